"use strict";
(() => {
  const filter = document.getElementById("filter");
  const rows = [...document.querySelectorAll(".row")].map((row) => ({
    row,
    cells: [...row.querySelectorAll(".cell")],
    text: [row.querySelector("summary"), ...row.querySelectorAll(".rule")]
      .map((part) => part.textContent).join(" ").toLowerCase(),
  }));
  const areas = [...document.querySelectorAll(".area")];
  const choices = [...filter.querySelectorAll("select")];

  function apply() {
    const words = filter.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { row, cells, text } of rows) {
      const told = words.every((word) => text.includes(word));
      let some = false;
      for (const cell of cells) {
        const chosen = choices.every(({ name, value }) =>
          !value || { ...row.dataset, ...cell.dataset }[name] === value);
        cell.hidden = !chosen;
        some ||= chosen;
      }
      row.hidden = !(told && some);
      shown += row.hidden ? 0 : 1;
    }
    for (const area of areas) area.hidden = !area.querySelector(".row:not([hidden])");
    document.getElementById("none").hidden = shown > 0;
    filter.elements.count.value = shown === rows.length ? `${shown} checks` : `${shown} of ${rows.length}`;
  }

  filter.hidden = rows.length === 0;
  filter.addEventListener("input", apply);
  filter.addEventListener("reset", () => setTimeout(apply));
  filter.addEventListener("submit", (event) => event.preventDefault());
  apply();

  for (const button of document.querySelectorAll(".copy")) {
    const code = button.parentElement.querySelector("code");
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }

  // What is not as required is seen without scrolling for it.
  function showMarks(within) {
    for (const pre of within.querySelectorAll("pre:has(mark)")) {
      const top = pre.querySelector("mark").getBoundingClientRect().top - pre.getBoundingClientRect().top;
      if (top > pre.clientHeight * 0.8) pre.scrollTop = top - pre.clientHeight / 3;
    }
  }
  document.addEventListener("toggle", ({ target }) => { if (target.open) showMarks(target); }, true);
  showMarks(document);

  function goTo() {
    const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (row?.matches(".row")) row.open = true;
  }
  addEventListener("hashchange", goTo);
  goTo();
})();
