import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { saveAs } from '../../../lib/api/download.ts';
import { notify } from '../../../ui/notify.ts';
import { generationOf } from '../testing/generation-of.ts';
import { downloadEdit } from './download-edit.ts';

vi.mock('../../../lib/api/download.ts', () => ({ saveAs: vi.fn<typeof saveAs>() }));
vi.mock('../../../ui/notify.ts', () => ({ notify: { info: vi.fn<typeof notify.info>() } }));
const fetched = vi.fn<typeof fetch>();
vi.stubGlobal('fetch', fetched);
const opened = vi.spyOn(window, 'open');
const copied = vi.spyOn(navigator.clipboard, 'writeText');

const [output] = generationOf().outputs;
const edit = generationOf({
  generator: 'flux-kontext',
  outputs: output ? [{ ...output, url: '/files/x?signature=1' }] : [],
});
const address = `${window.location.origin}/files/x?signature=1`;

beforeEach(() => {
  fetched.mockImplementation(async () => new Response('', { status: 500 }));
  opened.mockReturnValue(null);
  copied.mockResolvedValue();
});
afterEach(() => vi.clearAllMocks());

test('downloads a picture', async () => {
  fetched.mockResolvedValue(new Response('bytes', { headers: { 'content-type': 'image/png' } }));
  await downloadEdit(edit);
  expect(saveAs).toHaveBeenCalledExactlyOnceWith(expect.any(Blob), 'flux-kontext-g1.png');
  expect(opened).not.toHaveBeenCalled();
});

test('falls back to a new tab without an opener', async () => {
  const tab = { opener: window };
  opened.mockReturnValue(tab as never);
  await downloadEdit(edit);
  expect(opened).toHaveBeenCalledExactlyOnceWith(address, '_blank');
  expect(tab.opener).toBeNull();
  expect(copied).not.toHaveBeenCalled();
});

test('copies the address if no tab may be opened', async () => {
  await downloadEdit(edit);
  expect(copied).toHaveBeenCalledExactlyOnceWith(address);
  expect(notify.info).toHaveBeenCalledOnce();
});

test('shows the address in an error if copying is not allowed', async () => {
  copied.mockRejectedValue(new Error('not allowed'));
  await expect(downloadEdit(edit)).rejects.toThrow(address);
});

test('has no fallback without an address', async () => {
  await expect(downloadEdit({ ...edit, outputs: [] })).rejects.toThrow('Image URL not provided');
  expect(opened).not.toHaveBeenCalled();
});
