import { storedChoice } from './stored-choice.ts';

const dark = globalThis.matchMedia?.('(prefers-color-scheme: dark)');

/** Light, dark or system. `public/first-paint.js` applies the stored choice before the first paint. */
export const themeChoice = storedChoice('bakehouse.theme', ['system', 'light', 'dark'], 'system', applyTheme);

/** Applies changes of the system theme. Called once at startup. */
export function followSystemTheme(): void {
  dark?.addEventListener('change', () => applyTheme(themeChoice.get()));
}

function applyTheme(choice: 'system' | 'light' | 'dark'): void {
  const theme = choice === 'system' ? (dark?.matches ? 'dark' : 'light') : choice;
  document.documentElement.dataset.theme = theme;
  const color = getComputedStyle(document.documentElement).getPropertyValue('--canvas').trim();
  document.querySelector('meta[name="theme-color"]')?.setAttribute('content', color);
}
