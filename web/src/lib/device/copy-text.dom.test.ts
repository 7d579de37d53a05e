import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { copyText } from './copy-text.ts';

const command = vi.fn<(name: string) => boolean>();
/** The copied text, and the parent of the copied element. */
let copied: { text: string; parent: Element | null };

beforeEach(() => {
  document.body.innerHTML =
    '<main><button id="page"></button></main><div role="dialog"><button id="inside"></button></div>';
  command.mockReset().mockImplementation((name) => {
    const { value, selectionStart, selectionEnd, parentElement } =
      document.activeElement as HTMLTextAreaElement;
    copied = { text: value.slice(selectionStart, selectionEnd), parent: parentElement };
    return name === 'copy';
  });
  Object.assign(document, { execCommand: command });
});
afterEach(() => vi.unstubAllGlobals());

/** Simulates a page over plain http. */
function withoutClipboard() {
  vi.stubGlobal('navigator', { clipboard: undefined });
}

test('uses the clipboard API if available', async () => {
  const writeText = vi.fn(async (_text: string) => undefined);
  vi.stubGlobal('navigator', { clipboard: { writeText } });
  await copyText('bk_1');
  expect(writeText).toHaveBeenCalledExactlyOnceWith('bk_1');
  expect(command).not.toHaveBeenCalled();
});

test.each(['page', 'inside'])('without it, copies a selection and cleans up: %s', async (id) => {
  withoutClipboard();
  const button = document.getElementById(id);
  const before = document.body.innerHTML;
  button?.focus();
  await copyText('two\nlines');
  // An open dialog traps the focus.
  const parent = id === 'inside' ? document.querySelector('[role="dialog"]') : document.body;
  expect(copied).toEqual({ text: 'two\nlines', parent });
  expect(document.activeElement).toBe(button);
  expect(document.body.innerHTML).toBe(before);
});

test('throws if the browser allows neither', async () => {
  withoutClipboard();
  command.mockReturnValue(false);
  await expect(copyText('bk_1')).rejects.toThrow();
});
