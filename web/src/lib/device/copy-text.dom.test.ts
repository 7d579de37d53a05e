import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { copyText } from './copy-text.ts';

const command = vi.fn<(name: string) => boolean>();
/** What it would copy, and where that stood. */
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

/** As on a page that came by plain http. */
function withoutClipboard() {
  vi.stubGlobal('navigator', { clipboard: undefined });
}

test('the clipboard is written where there is one', async () => {
  const writeText = vi.fn(async (_text: string) => undefined);
  vi.stubGlobal('navigator', { clipboard: { writeText } });
  await copyText('bk_1');
  expect(writeText).toHaveBeenCalledExactlyOnceWith('bk_1');
  expect(command).not.toHaveBeenCalled();
});

test.each(['page', 'inside'])(
  'without one the text is selected and copied, and nothing stays of that: %s',
  async (id) => {
    withoutClipboard();
    const button = document.getElementById(id);
    const before = document.body.innerHTML;
    button?.focus();
    await copyText('two\nlines');
    // An open dialog would take the focus back from outside.
    const parent = id === 'inside' ? document.querySelector('[role="dialog"]') : document.body;
    expect(copied).toEqual({ text: 'two\nlines', parent });
    expect(document.activeElement).toBe(button);
    expect(document.body.innerHTML).toBe(before);
  },
);

test('throws where the browser allows neither', async () => {
  withoutClipboard();
  command.mockReturnValue(false);
  await expect(copyText('bk_1')).rejects.toThrow();
});
