// Runs before the data has come, in any browser that runs anything: says that it comes, or what it takes.
document.getElementById("state").textContent =
  "DecompressionStream" in window ? "Opening…" : "This replay needs a browser of 2023 or later.";
