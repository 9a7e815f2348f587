"use strict";
(() => {
  const key = (cell) => {
    const value = cell.dataset.sort;
    return value === undefined ? null : cell.classList.contains("number") ? (value === "inf" ? Infinity : Number(value)) : value;
  };
  for (const table of document.querySelectorAll("table")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      head.firstElementChild.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...table.tBodies[0].rows].map((row) => [key(row.cells[column]), row]);
        rows.sort(([a], [b]) => {
          if (a === null || b === null) return (a === null) - (b === null);
          const order = a < b ? -1 : a > b ? 1 : 0;
          return down ? -order : order;
        });
        table.tBodies[0].append(...rows.map(([, row]) => row));
      });
    });
  }

  const widths = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      target.parentElement.querySelector(".hint").hidden = target.scrollWidth <= target.clientWidth;
    }
  });
  document.querySelectorAll(".scroll").forEach((box) => widths.observe(box));

  for (const button of document.querySelectorAll(".button.numbers")) {
    const target = document.getElementById(button.getAttribute("aria-controls"));
    target.hidden = true;
    button.hidden = false;
    button.addEventListener("click", () => {
      target.hidden = !target.hidden;
      button.setAttribute("aria-expanded", String(!target.hidden));
      button.textContent = target.hidden ? "Show the numbers" : "Hide the numbers";
    });
  }

  for (const chart of document.querySelectorAll(".chart")) {
    const plot = chart.querySelector(".plot");
    const picture = plot.querySelector("svg");
    const reading = chart.querySelector(".reading");
    const cursor = picture.querySelector(".cursor");
    const groups = [...picture.querySelectorAll(".series")];
    const lists = groups.map((group) =>
      [...group.querySelectorAll(".mark")].map((mark) => {
        const title = mark.querySelector("title");
        const words = title.textContent;
        title.remove();
        return { x: Number(mark.dataset.x), y: Number(mark.dataset.y), words };
      }).sort((a, b) => a.x - b.x || a.y - b.y));
    let at = null;
    const isOn = (series) => lists[series].length > 0 && !groups[series].classList.contains("off");
    const show = (series, place) => {
      at = { series, place };
      const mark = lists[series][place];
      cursor.setAttribute("cx", mark.x);
      cursor.setAttribute("cy", mark.y);
      reading.textContent = mark.words;
    };
    const clear = () => {
      at = null;
      cursor.setAttribute("cx", -50);
    };
    const nearest = (x, y, within) => {
      let best = null;
      lists.forEach((list, series) => {
        if (!isOn(series)) return;
        list.forEach((mark, place) => {
          const far = Math.hypot(mark.x - x, mark.y - y);
          if (far <= within && (best === null || far < best.far)) best = { series, place, far };
        });
      });
      return best;
    };
    plot.addEventListener("pointermove", (event) => {
      const box = picture.getBoundingClientRect();
      const scale = picture.viewBox.baseVal.width / box.width;
      const best = nearest((event.clientX - box.left) * scale, (event.clientY - box.top) * scale, 40);
      if (best !== null) show(best.series, best.place);
    });
    plot.addEventListener("keydown", (event) => {
      const on = groups.map((_, series) => series).filter(isOn);
      if (on.length === 0) return;
      const steps = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
      const turns = { ArrowUp: 1, ArrowDown: -1 };
      if (event.key in steps) {
        const series = at && isOn(at.series) ? at.series : on[on.length - 1];
        const place = at && isOn(at.series) ? at.place + steps[event.key] : 0;
        show(series, Math.max(0, Math.min(lists[series].length - 1, place)));
      } else if (event.key in turns) {
        const from = at ? on.indexOf(at.series) : -1;
        const series = on[(from + turns[event.key] + on.length) % on.length];
        const x = at ? lists[at.series][at.place].x : 0;
        const far = lists[series].map((mark) => Math.abs(mark.x - x));
        show(series, far.indexOf(Math.min(...far)));
      } else if (event.key === "Escape") {
        clear();
        return;
      } else return;
      event.preventDefault();
    });
    for (const button of chart.querySelectorAll(".button[data-series]")) {
      button.addEventListener("click", () => {
        const off = groups[Number(button.dataset.series)].classList.toggle("off");
        button.setAttribute("aria-pressed", String(!off));
        if (at && off && at.series === Number(button.dataset.series)) clear();
      });
    }
  }
})();
