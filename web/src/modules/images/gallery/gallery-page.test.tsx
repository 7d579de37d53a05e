import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { FakeApi } from '../testing/fake-api.ts';
import { generationOf, unfinished } from '../testing/generation-of.ts';
import { renderPage } from '../testing/render-page.tsx';

const server = vi.hoisted(() => ({ api: null as FakeApi | null }));
vi.mock('../../../lib/api/api-client.ts', () => ({
  call: (...input: Parameters<FakeApi['call']>) => server.api?.call(...input),
}));

beforeAll(() => Promise.all([import('./gallery-page.tsx'), import('./generation-page.tsx')]));

let api: FakeApi;
beforeEach(() => {
  api = new FakeApi();
  server.api = api;
  api.generations = [
    unfinished({ id: 'g3', prompt: 'A rye loaf' }),
    generationOf({ id: 'g2', prompt: 'A roll', parameters: { sampling_strategy: 'top1' } }),
    generationOf(),
  ];
});

it('all generations are there, and narrowed by what stands in the address', async () => {
  const router = await renderPage('/gallery');
  await screen.findByRole('link', { name: 'A roll' });
  expect(screen.getByRole('link', { name: 'A rye loaf, running' })).toBeTruthy();
  await userEvent.type(screen.getByRole('searchbox', { name: 'Search prompts' }), 'roll');
  await waitFor(() => expect(router.state.location.search).toEqual({ search: 'roll' }));
  await waitFor(() => expect(screen.queryByRole('link', { name: 'A loaf of bread' })).toBeNull());
  await router.navigate({ href: '/gallery?state=failed' });
  await screen.findByText('No generations found');
});

it('two that are chosen stand side by side, with what differs', async () => {
  await renderPage('/gallery');
  await userEvent.click(await screen.findByRole('checkbox', { name: 'Compare A roll' }));
  await screen.findByText('Choose a second picture to compare it with.');
  await userEvent.click(screen.getByRole('checkbox', { name: 'Compare A loaf of bread' }));
  await screen.findByRole('heading', { name: 'Side by side' });
  expect(await screen.findByRole('row', { name: 'Experts The best one The best few' })).toBeTruthy();
});

it('a generation shows all that it was made from, and takes it over into the form', async () => {
  const router = await renderPage('/gallery/g1');
  const terms = screen.getAllByRole('term').map(({ textContent }) => textContent);
  expect(terms).toEqual(
    expect.arrayContaining([
      'Cost',
      'Expert used',
      'Confidence',
      'Drawn in',
      'Model',
      'Guidance',
      'Seed',
      'Size',
    ]),
  );
  expect(screen.getByText('paris-ddm-v1.0')).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Remix' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Seed only' }));
  await waitFor(() => expect(router.state.location.pathname).toBe('/paris'));
});

it('one that is not there says so', async () => {
  await renderPage('/gallery/g9');
  expect(await screen.findByText('There is no such generation')).toBeTruthy();
});
