import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { notify } from '../../ui/notify.ts';
import { FakeApi } from '../gallery/testing/fake-api.ts';
import { generationOf, unfinished } from '../gallery/testing/generation-of.ts';
import { renderPage } from '../gallery/testing/render-page.tsx';

const server = vi.hoisted(() => ({ api: null as FakeApi | null }));
vi.mock('../../lib/api/api-client.ts', () => ({
  call: (...input: Parameters<FakeApi['call']>) => server.api?.call(...input),
}));

// Loaded up front, so that tests do not depend on load time.
beforeAll(() => Promise.all([import('./generator-page.tsx'), import('./form/generator-settings.tsx')]));

let api: FakeApi;
beforeEach(() => {
  api = new FakeApi();
  server.api = api;
});

const prompt = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' });
const unfold = async () => userEvent.click(await screen.findByRole('button', { name: 'Advanced' }));
const choose = (quality: string) => userEvent.click(screen.getByRole('radio', { name: quality }));
const generate = () => userEvent.click(screen.getByRole('button', { name: 'Generate' }));

it("shows the price next to the button, and the picture's progress step by step", async () => {
  await renderPage('/paris');
  expect((await screen.findByRole('group', { name: 'Price' })).textContent).toContain('Price');
  await screen.findByText('$0.02');
  await userEvent.type(prompt(), 'A loaf of bread');
  api.next = unfinished();
  await generate();
  expect(await screen.findByText('Step 5 of 20')).toBeTruthy();
  expect(api.bodiesOf('/api/v1/generations')).toEqual([
    {
      generator: 'paris',
      prompt: 'A loaf of bread',
      parameters: {
        cfg_scale: 4,
        num_inference_steps: 20,
        sampling_strategy: 'topk',
        k: 2,
        output_format: 'png',
      },
      // The displayed price is the maximum.
      cost_max: '0.5',
    },
  ]);
});

it("opens with the starter's defaults; the specified ones are one click away, each with its price", async () => {
  await renderPage('/paris');
  const priced = () => api.bodiesOf('/api/v1/generations/quote').at(-1);
  const chosen = () => screen.getByRole('radio', { checked: true });
  expect(chosen()).toBe(screen.getByRole('radio', { name: 'Standard' }));
  screen.getByText('20 steps, guidance 4, 2 experts');
  await choose('API defaults');
  expect(chosen()).toBe(screen.getByRole('radio', { name: 'API defaults' }));
  screen.getByText('100 steps, guidance 7.5, 4 experts');
  const specified = { cfg_scale: 7.5, num_inference_steps: 100, sampling_strategy: 'topk', k: 4 };
  await waitFor(() => expect(priced()).toMatchObject({ parameters: specified }));
  await choose('Draft');
  screen.getByText('10 steps, guidance 4, 1 expert');
  await unfold();
  await retype('Steps', '35');
  screen.getByText('Your own settings: 35 steps, guidance 4, 1 expert');
  expect(screen.queryByRole('radio', { checked: true })).toBeNull();
});

it('shows how much of a prompt the starter model reads', async () => {
  await renderPage('/paris');
  expect(screen.getByText('Keep it short: about 20 words.')).toBeTruthy();
  await userEvent.click(prompt());
  await userEvent.paste('bread '.repeat(21));
  expect(screen.getByText(/^Keep it short.* Yours has 21/)).toBeTruthy();
});

it('corrects an invalid number on blur, and explains it until the number changes', async () => {
  await renderPage('/paris');
  await unfold();
  const guidance = await screen.findByRole<HTMLInputElement>('spinbutton', { name: 'Guidance' });
  await userEvent.clear(guidance);
  await userEvent.type(guidance, '99');
  expect(screen.queryByText(/is too high/)).toBeNull();
  await userEvent.tab();
  expect(guidance.value).toBe('15');
  await screen.findByText('99 is too high and was changed to 15.');
  await userEvent.click(screen.getByRole('button', { name: 'Reset settings' }));
  expect(screen.queryByText(/is too high/)).toBeNull();
});

it('shows the same request as code', async () => {
  await renderPage('/paris');
  await userEvent.type(prompt(), 'A loaf of bread');
  await userEvent.click(await screen.findByRole('button', { name: 'Use from code' }));
  const code = (await screen.findByRole('region', { name: 'curl' })).textContent;
  expect(code).toContain('"prompt":"A loaf of bread","parameters":{"cfg_scale":4');
});

it('rejects a second generation with a message while one is in progress, and sends nothing', async () => {
  api.generations = [unfinished()];
  await renderPage('/paris');
  // A reload finds it again.
  await screen.findByText('Step 5 of 20');
  await userEvent.type(prompt(), 'Another loaf');
  await generate();
  expect((await screen.findByRole('alert')).textContent).toBe(
    'A picture is still being generated. Wait for it to finish, or cancel it first.',
  );
  expect(api.bodiesOf('/api/v1/generations')).toEqual([]);

  await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  expect(await screen.findByText('You were not charged.')).toBeTruthy();
});

it("another generator's work does not block this one", async () => {
  api.generations = [unfinished({ id: 'g7', generator: 'flux-kontext' })];
  await renderPage('/paris');
  await screen.findByText('$0.02');
  await userEvent.type(prompt(), 'Another loaf');
  api.next = unfinished();
  await generate();
  expect(await screen.findByText('Step 5 of 20')).toBeTruthy();
  expect(api.bodiesOf('/api/v1/generations')).toHaveLength(1);
});

it('an unreadable price is shown as unknown, not as free', async () => {
  api.cost = null;
  await renderPage('/paris');
  const price = await screen.findByRole('group', { name: 'Price' });
  await waitFor(() => expect(price.textContent).toContain('Unknown'));
  expect(price.textContent).not.toMatch(/Free|0\.00/);
});

it('a finished picture shows its details and experts, and can be deleted', async () => {
  const notified = vi.spyOn(notify, 'success').mockImplementation(() => undefined);
  api.generations = [generationOf()];
  await renderPage('/paris');
  await screen.findByRole('img', { name: 'A loaf of bread' });
  const shown = within(screen.getByRole('region', { name: 'Results' }));
  expect(shown.getByText('2.5 s')).toBeTruthy();
  await userEvent.click(shown.getByRole('button', { name: 'How it was drawn' }));
  expect(shown.getAllByText('70%')).toHaveLength(2);
  expect(shown.getByRole('row', { name: 'Expert 1 30%' })).toBeTruthy();

  await userEvent.click(shown.getByRole('button', { name: 'Delete' }));
  await userEvent.click(within(screen.getByRole('alertdialog')).getByRole('button', { name: 'Delete' }));
  await waitFor(() => expect(notified).toHaveBeenCalledWith('Paris generation deleted successfully'));
  await screen.findByText('Your pictures appear here');
});

it('runs again with other experts and the same seed, and shows both', async () => {
  api.generations = [generationOf()];
  await renderPage('/paris');
  await userEvent.click(await screen.findByRole('button', { name: /^Run again/ }));
  const dialog = within(await screen.findByRole('dialog'));
  await userEvent.click(dialog.getByRole('radio', { name: 'All eight' }));
  await waitFor(() =>
    expect(api.bodiesOf('/api/v1/generations/quote')).toContainEqual({
      generator: 'paris',
      model: 'paris-ddm-v1.0',
      parameters: expect.objectContaining({ sampling_strategy: 'full', k: 8, seed: 7 }),
    }),
  );
  api.next = generationOf({
    id: 'g2',
    parameters: { ...generationOf().parameters, sampling_strategy: 'full', k: 8 },
  });
  await userEvent.click(dialog.getByRole('button', { name: 'Generate' }));
  await screen.findByRole('heading', { name: 'Side by side' });
  expect(await screen.findByRole('row', { name: 'Experts The best few All eight' })).toBeTruthy();
});

it('fills the form from a remix and removes it from the URL', async () => {
  const router = await renderPage(
    `/paris?prompt=Rye&settings=${encodeURIComponent(JSON.stringify({ sampling_strategy: 'top1', k: 1, seed: 7, other: 1 }))}`,
  );
  await waitFor(() => expect(prompt().value).toBe('Rye'));
  await unfold();
  expect(screen.getByRole<HTMLInputElement>('spinbutton', { name: 'Seed' }).value).toBe('7');
  expect(screen.getByRole('combobox', { name: 'Experts' }).textContent).toContain('The best one');
  await waitFor(() => expect(router.state.location.search).toEqual({}));

  await userEvent.click(screen.getByRole('button', { name: 'Reset settings' }));
  expect(screen.getByRole<HTMLInputElement>('spinbutton', { name: 'Seed' }).value).toBe('');
  expect(screen.getByRole<HTMLInputElement>('spinbutton', { name: 'Steps' }).value).toBe('20');
});

const field = (name: string) => screen.getByRole<HTMLInputElement>('spinbutton', { name });
const retype = async (name: string, text: string) => {
  await userEvent.clear(field(name));
  if (text !== '') await userEvent.type(field(name), text);
};

it.each([
  ['Steps', '5', '10'],
  ['Steps', '5000', '200'],
  ['Steps', '', '20'],
  ['Guidance', '0.5', '1'],
  ['Guidance', '99', '15'],
  ['Guidance', '', '7.5'],
  ['Number of experts', '12', '8'],
  ['Number of experts', '', '2'],
  ['Seed', '99999999999', '4294967295'],
  ['Seed', '', ''],
])('corrects %s from "%s" to "%s" on blur', async (name, typed, left) => {
  await renderPage('/paris');
  await unfold();
  await retype(name, typed);
  expect(field(name).value).toBe(typed);
  await userEvent.tab();
  expect(field(name).value).toBe(left);
});

it('Enter in a field corrects it, too, and requests the displayed values', async () => {
  await renderPage('/paris');
  await screen.findByText('$0.02');
  await unfold();
  await userEvent.type(prompt(), 'Bread');
  api.next = unfinished();
  await retype('Steps', '5');
  await userEvent.keyboard('{Enter}');
  await screen.findByText('Step 5 of 20');
  expect(field('Steps').value).toBe('10');
  expect(api.bodiesOf('/api/v1/generations')).toMatchObject([{ parameters: { num_inference_steps: 10 } }]);
});

it('a number changed right before submitting costs no more than the displayed price', async () => {
  await renderPage('/paris');
  await screen.findByText('$0.02');
  await unfold();
  await userEvent.type(prompt(), 'Bread');
  api.cost = '5';
  api.next = unfinished();
  await retype('Steps', '200');
  await userEvent.keyboard('{Enter}');
  await screen.findByText('Step 5 of 20');
  expect(api.bodiesOf('/api/v1/generations')).toEqual([
    expect.objectContaining({
      parameters: expect.objectContaining({ num_inference_steps: 200 }),
      cost_max: '0.5',
    }),
  ]);
});

it('focuses the first invalid field', async () => {
  await renderPage('/paris');
  await generate();
  expect(document.activeElement).toBe(prompt());
  expect(screen.getByText('Please enter a prompt')).toBeTruthy();
});

it('an empty page offers example prompts; a page with a picture does not', async () => {
  await renderPage('/paris');
  const examples = within(await screen.findByRole('group', { name: 'Try one of these' }));
  await userEvent.click(examples.getByRole('button', { name: 'a red apple on a table' }));
  expect(prompt().value).toBe('a red apple on a table');
  expect(document.activeElement).toBe(prompt());
  api.next = generationOf();
  await generate();
  await screen.findByRole('img', { name: 'A loaf of bread' });
  expect(screen.queryByRole('group', { name: 'Try one of these' })).toBeNull();
});

it('a model that is not a starter has no examples', async () => {
  await renderPage('/flux-kontext');
  await screen.findByText('Your pictures appear here');
  expect(screen.queryByRole('group', { name: 'Try one of these' })).toBeNull();
});

it('the history shows the latest 20 pictures', async () => {
  api.generations = Array.from({ length: 21 }, (_, at) =>
    generationOf({ id: `g${at}`, prompt: `Bread ${at}` }),
  );
  await renderPage('/paris');
  await screen.findByRole('link', { name: 'Bread 0' });
  expect(screen.getAllByRole('link', { name: /^Bread/ })).toHaveLength(20);
});
