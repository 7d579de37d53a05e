import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { notify } from '../../../ui/notify.ts';
import { FakeApi } from '../testing/fake-api.ts';
import { generationOf, unfinished } from '../testing/generation-of.ts';
import { renderPage } from '../testing/render-page.tsx';

const server = vi.hoisted(() => ({ api: null as FakeApi | null }));
vi.mock('../../../lib/api/api-client.ts', () => ({
  call: (...input: Parameters<FakeApi['call']>) => server.api?.call(...input),
}));

beforeAll(
  () =>
    Promise.all([
      import('./gallery-page.tsx'),
      import('./generation-page.tsx'),
      import('./training-dialog.tsx'),
      import('./delete-dialog.tsx'),
    ]),
  60_000,
);

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

it('shows all generations, filtered by the URL', async () => {
  const router = await renderPage('/gallery');
  await screen.findByRole('link', { name: 'A roll' });
  expect(screen.getByRole('link', { name: 'A rye loaf, running' })).toBeTruthy();
  await userEvent.type(screen.getByRole('searchbox', { name: 'Search prompts' }), 'roll');
  await waitFor(() => expect(router.state.location.search).toEqual({ search: 'roll' }));
  await waitFor(() => expect(screen.queryByRole('link', { name: 'A loaf of bread' })).toBeNull());
  await router.navigate({ href: '/gallery?state=failed' });
  await screen.findByText('No generations found');
});

it('compares two selected generations and their differences until Back', async () => {
  const router = await renderPage('/gallery');
  await userEvent.click(await screen.findByRole('checkbox', { name: 'Select A roll' }));
  expect(screen.getByRole('button', { name: 'Compare' })).toHaveProperty('disabled', true);
  await userEvent.click(screen.getByRole('checkbox', { name: 'Select A loaf of bread' }));
  await userEvent.click(screen.getByRole('button', { name: 'Compare' }));
  await screen.findByRole('heading', { name: 'Side by side' });
  expect(await screen.findByRole('row', { name: 'Experts The best one The best few' })).toBeTruthy();
  expect(screen.queryByRole('region', { name: 'Selected pictures' })).toBeNull();
  router.history.back();
  await waitFor(() => expect(screen.queryByRole('heading', { name: 'Side by side' })).toBeNull());
  expect(router.state.location.pathname).toBe('/gallery');
});

it('closing a comparison goes back to the gallery if it was opened there, otherwise replaces it', async () => {
  const router = await renderPage('/gallery');
  const at = () => router.history.location.state.__TSR_index;
  const close = async () => {
    await userEvent.click(await screen.findByRole('button', { name: 'Close' }));
    await waitFor(() => expect(screen.queryByRole('heading', { name: 'Side by side' })).toBeNull());
    expect(router.state.location.search).toEqual({});
  };
  const compare = async () => {
    await userEvent.click(await screen.findByRole('checkbox', { name: 'Select A roll' }));
    await userEvent.click(screen.getByRole('checkbox', { name: 'Select A loaf of bread' }));
    const before = at();
    await userEvent.click(screen.getByRole('button', { name: 'Compare' }));
    await waitFor(() => expect(at()).toBe(before + 1));
  };
  await compare();
  await close();
  expect(at()).toBe(0);
  await router.navigate({ to: '/gallery', search: { compare: ['g1', 'g2'] } } as never);
  await screen.findByRole('heading', { name: 'Side by side' });
  // The history entry already shows the comparison.
  await compare();
  await close();
  expect(at()).toBe(2);
});

it('selects single pictures, ranges, all and none, also by keyboard', async () => {
  api.generations = ['a', 'b', 'c', 'd'].map((id) => generationOf({ id, prompt: `Bread ${id}` }));
  await renderPage('/gallery');
  const user = userEvent.setup();
  const box = (id: string) => screen.getByRole('checkbox', { name: `Select Bread ${id}` });
  const count = () => screen.queryByRole('status')?.textContent;
  await user.click(await screen.findByRole('checkbox', { name: 'Select Bread a' }));
  expect(count()).toBe('1 selected');
  await user.keyboard('{Shift>}');
  await user.click(box('c'));
  await user.keyboard('{/Shift}');
  expect(count()).toBe('3 selected');
  await user.keyboard('{Control>}a{/Control}');
  expect(count()).toBe('4 selected');
  await user.keyboard('{Escape}');
  expect(count()).toBeUndefined();
  await user.click(box('b'));
  await user.click(screen.getByRole('button', { name: 'Select all 4' }));
  await user.click(screen.getByRole('button', { name: 'Clear selection' }));
  expect(count()).toBeUndefined();
});

it('selects failed and cancelled generations for deletion only, and not running ones', async () => {
  api.generations = [
    unfinished({ id: 'g4', prompt: 'A rye loaf' }),
    generationOf({ id: 'g3', prompt: 'A bun', state: 'cancelled', outputs: [] }),
    generationOf({ id: 'g2', prompt: 'A roll', state: 'failed', outputs: [] }),
    generationOf({ id: 'g1', prompt: 'A loaf' }),
  ];
  await renderPage('/gallery');
  await userEvent.click(await screen.findByRole('checkbox', { name: 'Select A bun' }));
  expect(screen.queryByRole('checkbox', { name: 'Select A rye loaf' })).toBeNull();
  await userEvent.click(screen.getByRole('checkbox', { name: 'Select A roll' }));
  expect(screen.getByRole('status').textContent).toBe('2 selected, 2 without a picture');
  const isDisabled = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name }).disabled;
  expect(['Compare', 'Add to a dataset', 'Download zip'].map(isDisabled)).toEqual([true, true, true]);
  expect(isDisabled('Delete selected pictures')).toBe(false);
  await userEvent.click(screen.getByRole('checkbox', { name: 'Select A loaf' }));
  expect(isDisabled('Download zip')).toBe(false);
});

it('renders only the visible tiles of ten thousand, each with its position', async () => {
  vi.spyOn(HTMLElement.prototype, 'offsetHeight', 'get').mockReturnValue(250);
  api.generations = Array.from({ length: 10_000 }, (_, index) =>
    generationOf({ id: `g${index}`, prompt: `Bread ${index}` }),
  );
  await renderPage('/gallery');
  await screen.findByRole('link', { name: 'Bread 0' });
  const tiles = document.querySelectorAll('li[aria-setsize="10000"]');
  expect(tiles.length).toBeLessThan(100);
  expect(tiles[1]?.getAttribute('aria-posinset')).toBe('2');
});

it('a generation without pictures cannot be selected', async () => {
  await renderPage('/gallery');
  await screen.findByRole('checkbox', { name: 'Select A roll' });
  expect(screen.queryByRole('checkbox', { name: 'Select A rye loaf' })).toBeNull();
});

it('downloads the selection as one zip', async () => {
  const click = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockReturnValue();
  await renderPage('/gallery');
  await userEvent.click(await screen.findByRole('checkbox', { name: 'Select A roll' }));
  await userEvent.click(screen.getByRole('button', { name: 'Download zip' }));
  await waitFor(() => expect(click).toHaveBeenCalledOnce());
  const [link] = click.mock.contexts as HTMLAnchorElement[];
  expect([link?.getAttribute('href'), link?.download]).toEqual([
    '/api/v1/pictures.zip?ids=x',
    'pictures.zip',
  ]);
  expect(api.bodiesOf('/api/v1/generations/zip')).toEqual([{ ids: ['g2'] }]);
});

it('adds the selection to a new or existing dataset', async () => {
  const notified = vi.spyOn(notify, 'success').mockReturnValue(undefined);
  await renderPage('/gallery');
  await userEvent.click(await screen.findByRole('checkbox', { name: 'Select A roll' }));
  // Loads the dialog's code.
  await act(async () => userEvent.click(screen.getByRole('button', { name: 'Add to a dataset' })));
  expect(await screen.findByRole('dialog', { name: 'Add 1 picture to a dataset' })).toBeTruthy();
  const name = await screen.findByRole('textbox', { name: 'Name' });
  await userEvent.clear(name);
  await userEvent.click(screen.getByRole('button', { name: 'Add pictures' }));
  await screen.findByText('Name is required');
  await userEvent.type(name, 'Breads');
  await userEvent.click(screen.getByRole('button', { name: 'Add pictures' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(api.bodiesOf('/api/v1/generations/training_pictures')).toEqual([{ ids: ['g2'], title: 'Breads' }]);
  expect(screen.queryByRole('region', { name: 'Selected pictures' })).toBeNull();
  const left = expect.objectContaining({ description: '1 edit left out.' });
  expect(notified).toHaveBeenCalledExactlyOnceWith('1 picture added to “Breads”', left);
});

it('deletes the selection after one confirmation; failed deletions stay selected and are reported', async () => {
  const failed = vi.spyOn(notify, 'failure').mockReturnValue(undefined);
  api.generations = ['a', 'b', 'c'].map((id) => generationOf({ id, prompt: `Bread ${id}` }));
  api.undeletable = 'b';
  await renderPage('/gallery');
  await userEvent.click(await screen.findByRole('checkbox', { name: 'Select Bread a' }));
  await userEvent.click(screen.getByRole('button', { name: 'Select all 3' }));
  // Loads the dialog's code.
  await act(async () => userEvent.click(screen.getByRole('button', { name: 'Delete selected pictures' })));
  await screen.findByRole('alertdialog', { name: 'Delete 3 pictures and their settings?' });
  await userEvent.click(screen.getByRole('button', { name: 'Delete' }));
  await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
  expect(api.generations.map(({ id }) => id)).toEqual(['b']);
  expect(failed).toHaveBeenCalledExactlyOnceWith('1 of 3 pictures could not be deleted', {
    description: 'The server is busy',
  });
  expect(screen.queryByRole('status')?.textContent).toBe('1 selected');

  api.undeletable = null;
  await userEvent.click(screen.getByRole('button', { name: 'Delete selected pictures' }));
  await screen.findByRole('alertdialog', { name: 'Delete 1 picture and its settings?' });
  await userEvent.click(screen.getByRole('button', { name: 'Delete' }));
  await screen.findByText('No generations yet');
});

function twoPictures(changed: Parameters<typeof generationOf>[0] = {}) {
  const one = generationOf(changed);
  return {
    ...one,
    outputs: ['o1', 'o2'].flatMap((id) => one.outputs.map((output) => ({ ...output, id }))),
  };
}

it('asks for the number of pictures when a tile has several, and shows no toast when they are gone', async () => {
  const notified = vi.spyOn(notify, 'success').mockReturnValue(undefined);
  api.generations = [twoPictures()];
  await renderPage('/gallery');
  await userEvent.click(await screen.findByRole('checkbox', { name: 'Select A loaf of bread' }));
  await act(async () => userEvent.click(screen.getByRole('button', { name: 'Delete selected pictures' })));
  await screen.findByRole('alertdialog', { name: 'Delete 2 pictures and their settings?' });
  await userEvent.click(screen.getByRole('button', { name: 'Delete' }));
  await screen.findByText('No generations yet');
  expect(notified).not.toHaveBeenCalled();
});

it('a tile with several pictures shows their number and links to a page to choose one', async () => {
  api.generations = [twoPictures(), generationOf({ id: 'g2', prompt: 'A roll' })];
  await renderPage('/gallery');
  await screen.findByRole('link', { name: 'A loaf of bread, 2 pictures' });
  const hrefOf = (name: string) => screen.getByRole('link', { name }).getAttribute('href');
  expect(hrefOf('Choose a picture to edit: A loaf of bread')).toBe('/gallery/g1');
  expect(hrefOf('Edit this picture: A roll')).toBe('/flux-kontext?source=g2');
});

it('edits each of several pictures separately', async () => {
  api.generations = [twoPictures()];
  await renderPage('/gallery/g1');
  expect(screen.queryByRole('link', { name: 'Edit this picture' })).toBeNull();
  const link = screen.getByRole('link', { name: 'Edit picture 2' });
  expect(link.getAttribute('href')).toBe('/flux-kontext?source=g1&source_output=o2');
});

it('opens a picture at full size, arrow keys move to the next, and Escape goes back', async () => {
  api.generations = [twoPictures()];
  await renderPage('/gallery/g1');
  const second = screen.getByRole('button', { name: 'View full size: A loaf of bread, 2 of 2' });
  await userEvent.click(second);
  await screen.findByRole('dialog', { name: 'Picture 2 of 2' });
  await userEvent.keyboard('{ArrowRight}');
  expect(screen.getByRole('dialog', { name: 'Picture 2 of 2' }).textContent).toContain('128 × 128 pixels');
  await userEvent.keyboard('{ArrowLeft}');
  expect(screen.getByRole('dialog', { name: 'Picture 1 of 2' })).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Next' }));
  expect(screen.getByRole('dialog', { name: 'Picture 2 of 2' })).toBeTruthy();
  await userEvent.keyboard('{Escape}');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  await waitFor(() => expect(document.activeElement).toBe(second));
});

it('buttons and arrow keys move to adjacent generations, and Back returns to the gallery', async () => {
  const router = await renderPage('/gallery');
  await userEvent.click(await screen.findByRole('link', { name: 'A roll' }));
  const next = await screen.findByRole('button', { name: 'Next generation' });
  const at = () => router.state.location.pathname;
  await userEvent.click(next);
  await waitFor(() => expect(at()).toBe('/gallery/g1'));
  await waitFor(() =>
    expect(screen.getByRole('button', { name: 'Next generation' }).getAttribute('aria-disabled')).toBe(
      'true',
    ),
  );
  await userEvent.keyboard('{ArrowLeft}');
  await waitFor(() => expect(at()).toBe('/gallery/g2'));
  await userEvent.keyboard('{ArrowLeft}');
  await waitFor(() => expect(at()).toBe('/gallery/g3'));
  router.history.back();
  await waitFor(() => expect(at()).toBe('/gallery'));
});

it('shows all inputs of a generation and copies them into the form', async () => {
  const router = await renderPage('/gallery/g1');
  const terms = screen.getAllByRole('term').map(({ textContent }) => textContent);
  expect(terms).toEqual(
    expect.arrayContaining([
      'Cost',
      'Expert used',
      'Confidence',
      'Time taken',
      'Model',
      'Guidance',
      'Seed',
      'Size',
    ]),
  );
  expect(screen.getByText('paris-ddm-v1.0')).toBeTruthy();
  const model = screen.getByRole('link', { name: 'Paris starter' });
  expect(model.getAttribute('href')).toBe('/model/m1/description');
  expect(model.parentElement?.textContent).toBe('Paris starter, version 2');
  await userEvent.click(screen.getByRole('button', { name: 'Remix' }));
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Seed only' }));
  await waitFor(() => expect(router.state.location.pathname).toBe('/paris'));
});

it('shows that a generation does not exist', async () => {
  await renderPage('/gallery/g9');
  expect(await screen.findByText('Generation not found')).toBeTruthy();
});
