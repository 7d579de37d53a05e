// Runs before the first paint, so that a dark page never flashes white. A file of its own
// because the content security policy allows no inline script.
(() => {
  let choice = 'system';
  try {
    choice = localStorage.getItem('bakehouse.theme') ?? 'system';
  } catch {
    // Storage is blocked: follow the system.
  }
  const dark =
    choice === 'dark' || (choice !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  document.querySelector('meta[name="theme-color"]')?.setAttribute('content', dark ? '#141210' : '#fbfaf7');
})();
