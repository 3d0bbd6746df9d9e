"""The commands without a screen, one file each, loaded when they are used; those that set inftop up are in `setup`."""
