// Says why the dashboard has ended, and shows it again. The terminal sets the body's class "-closed".
"use strict";
const again = document.getElementById("again");
const why = document.getElementById("end-why");
again.addEventListener("click", () => location.reload());
async function tell() {
  let words = "The server has gone. Start inftop serve again, and open the address that it prints.";
  try {
    const answer = await fetch("state");
    const text = await answer.text();
    words = answer.ok ? text : new DOMParser().parseFromString(text, "text/html").querySelector("p").textContent;
  } catch {
    // gone, as it says
  }
  why.textContent = words;
  again.focus();
}
let told = false;
new MutationObserver(() => {
  if (!told && document.body.classList.contains("-closed")) {
    told = true;
    tell();
  }
}).observe(document.body, { attributes: true, attributeFilter: ["class"] });
