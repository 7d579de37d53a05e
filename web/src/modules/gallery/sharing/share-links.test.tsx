import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { ApiError } from '../../../lib/api/api-error.ts';
import { copyText } from '../../../lib/device/copy-text.ts';
import { FakeApi } from '../testing/fake-api.ts';
import { generationOf, unfinished } from '../testing/generation-of.ts';
import { renderPage } from '../testing/render-page.tsx';

const server = vi.hoisted(() => ({ api: null as FakeApi | null }));
vi.mock('../../../lib/api/api-client.ts', () => ({
  call: (...input: Parameters<FakeApi['call']>) => server.api?.call(...input),
}));
vi.mock('../../../lib/device/copy-text.ts', () => ({ copyText: vi.fn<typeof copyText>() }));

beforeAll(() => Promise.all([import('../gallery/generation-page.tsx'), import('./shared-page.tsx')]), 60_000);

let api: FakeApi;
beforeEach(() => {
  api = new FakeApi();
  server.api = api;
  api.generations = [generationOf()];
});

it('creates, copies and revokes a link, and focus follows the buttons', async () => {
  await renderPage('/gallery/g1');
  await screen.findByText(/^Create a link that shows this picture, its prompt and your name/);
  await userEvent.click(screen.getByRole('button', { name: 'Share link' }));
  const link = await screen.findByRole<HTMLInputElement>('textbox', { name: 'Link' });
  expect(link.value).toBe('https://bake.example/share/token-of-g1');
  expect(document.activeElement).toBe(link);
  expect(screen.getByText(/^Anyone with this link can see the picture/)).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Copy link' }));
  expect(copyText).toHaveBeenCalledWith(link.value);

  await userEvent.click(screen.getByRole('button', { name: 'Stop sharing' }));
  const share = await screen.findByRole('button', { name: 'Share link' });
  expect(document.activeElement).toBe(share);
  expect(api.shares.size).toBe(0);
});

it("a generation's page shows that it is shared; an unfinished one cannot be", async () => {
  api.shares.set('g1', 'token-of-g1');
  await renderPage('/gallery/g1');
  expect(await screen.findByRole('button', { name: 'Stop sharing' })).toBeTruthy();
  cleanup();
  api.generations = [unfinished()];
  await renderPage('/gallery/g1');
  expect(screen.queryByRole('heading', { name: 'Share' })).toBeNull();
});

it('a failed creation leaves the button', async () => {
  api.refusal = new ApiError('The server is busy', { status: 503 });
  await renderPage('/gallery/g1');
  const button = await screen.findByRole('button', { name: 'Share link' });
  await userEvent.click(button);
  await waitFor(() => expect(button.getAttribute('aria-busy')).toBeNull());
  expect(screen.queryByRole('textbox', { name: 'Link' })).toBeNull();
});

it('the shared page shows the picture, its prompt and author, and links to the generator', async () => {
  api.shares.set('g1', 'token-of-g1');
  await renderPage('/share/token-of-g1');
  expect(screen.getByRole('heading', { level: 1, name: 'Paris starter picture' })).toBeTruthy();
  expect(document.title).toBe('Paris starter picture · Bakehouse');
  expect(screen.getByText(/^By Ada · /)).toBeTruthy();
  expect(screen.getByRole('img', { name: 'A loaf of bread' })).toBeTruthy();
  const own = screen.getByRole('link', { name: 'Make your own' });
  expect(own.getAttribute('href')).toBe('/paris?prompt=A+loaf+of+bread');
  expect(within(document.body).queryByRole('button', { name: 'Delete' })).toBeNull();
});

it('plays a shared video, and shows an error for an invalid link', async () => {
  const [picture] = generationOf().outputs;
  const video = { ...picture, media_type: 'video/mp4', duration_s: 2, has_audio: false } as never;
  api.generations = [generationOf({ generator: 'wan', outputs: [video] })];
  api.shares.set('g1', 'token-of-g1');
  await renderPage('/share/token-of-g1');
  expect(screen.getByLabelText('A loaf of bread').tagName).toBe('VIDEO');
  expect(screen.getByText('2 seconds, 128 × 128 pixels, without sound')).toBeTruthy();
  cleanup();
  await renderPage('/share/nothing');
  expect(await screen.findByRole('heading', { name: 'This link does not work' })).toBeTruthy();
});
