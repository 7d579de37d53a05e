import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import { createDataset } from '../create-dataset.ts';
import { journey, look } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const MB = 1024 * 1024;
const LINE_BYTES = 1024;
const SIZE_MB = 1024;
/** Number of parts that are uploaded before the reload. */
const ARRIVED = 2;

/** Writes a file of random lines. Returns its SHA-256. */
async function writeLarge(file: string): Promise<string> {
  const hash = createHash('sha256');
  const handle = await open(file, 'w');
  for (let written = 0; written < SIZE_MB; written += 1) {
    const lines = Buffer.from(randomBytes(MB / 2).toString('hex'));
    for (let end = LINE_BYTES - 1; end < MB; end += LINE_BYTES) lines[end] = 0x0a;
    hash.update(lines);
    await handle.write(lines);
  }
  await handle.close();
  return hash.digest('hex');
}

journey(
  'an upload interrupted by a reload resumes with the same file and sends only missing parts',
  async ({ page, onTestFinished }) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'large-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = path.join(folder, 'corpus.txt');
    const sha256 = await writeLarge(file);
    await signUp(page);
    await createDataset(page, { name: 'Corpus' });
    await page.getByRole('tab', { name: /Files/ }).click();
    await page.getByText('At most 50 GB each.').waitFor();

    let sent: number[] = [];
    page.on('request', (request) => {
      const number = Number(/parts\/(\d+)/.exec(request.url())?.[1] ?? 0);
      if (number > 0) sent.push(number);
    });
    // The other parts are not sent before the page closes.
    const rest = (url: URL) => Number(/parts\/(\d+)/.exec(url.pathname)?.[1] ?? 0) > ARRIVED;
    await page.route(rest, () => {});
    await page.getByLabel('Choose files').setInputFiles(file);
    await page.getByRole('progressbar', { name: 'corpus.txt' }).waitFor();
    await page.getByText(`32.00 MB of ${SIZE_MB}.00 MB`).waitFor();
    await look(page, 'upload in parts');
    page.once('dialog', (dialog) => void dialog.accept());
    await page.reload();

    await page.unroute(rest);
    sent = [];
    await page.getByRole('tab', { name: /Files/ }).click();
    await page.getByText('Choose the file again to continue its upload.').waitFor();
    await look(page, 'upload unfinished');
    await page.getByLabel('File of corpus.txt').setInputFiles(file);
    await page.getByText('File uploaded').waitFor();
    expect(sent).not.toContain(1);
    expect(sent).not.toContain(ARRIVED);
    await page.getByRole('tab', { name: 'Files (1)' }).waitFor();
    await page.getByText('Choose the file again to continue its upload.').waitFor({ state: 'hidden' });

    // The server has computed the hash while it received the parts.
    await page.getByTitle(sha256).waitFor();
  },
);
