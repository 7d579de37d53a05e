import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { journey, look } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const RUN = '7d1f4c52-6f0e-4a53-9c55-6a1d3a1c9b02';
const AT = '2026-11-20T08:00:00.000Z';

/** A fine-tune that has ended, as the server tells it: it takes minutes, and what a judge makes of one has tests of its own. */
const source = { dataset_id: RUN, revision_id: RUN, title: 'Grains' };
const run = {
  ...{ run_id: RUN, user_id: 'ada', title: 'Grains model', model_id: RUN, kind: 'text' },
  ...{ base_model: source, dataset: { ...source, file_name: 'grains.csv' }, validation: null, sweep: null },
  parameters: {
    ...{ objective: 'sft', adaptation: 'lora', num_train_epochs: 1, learning_rate: 0.0002, batch_size: 4 },
    ...{
      lora_target_modules: ['q_proj'],
      lora_r: 8,
      lora_alpha: 16,
      rewards: [],
      data_format: 'prompt_completion',
    },
  },
  ...{ state: 'completed', reason: '', phase: null, step: 30, steps_total: 30, progress: 100 },
  ...{ elapsed_seconds: 14, remaining_seconds: null, device: 'CPU' },
  quote: { items: [], total: '0.5', total_usd: '0.02' },
  ...{ held: '0', charged: '0.25', cost_so_far: '0.25', ceiling: '0.75', stop_reason: null },
  ...{ stops_at_ceiling: false, resume_hold: null, resume_unpaid: null, resume_ceiling: null, restarts: 0 },
  summary: { eval_loss: 1.2, eval_loss_base: 2.1, train_loss: 1.4 },
  ...{ created_at: AT, started_at: AT, ended_at: AT },
};

const row = (loaf: string, tuned = `A ${loaf} loaf costs 4 crowns.`) => ({
  ...{ question: `What does a loaf of ${loaf} cost at the bakery by the harbour?`, earlier_turns: 0 },
  ...{
    expected: `A ${loaf} loaf costs 4 crowns.`,
    base: `Prices of ${loaf} bread differ from shop to shop.`,
    tuned,
  },
});
const heldOut = [row('rye'), row('oat'), row('spelt', 'Prices of spelt bread differ from shop to shop.')];

const said = (
  tuned_first: boolean,
  verdict: string | null,
  text: string | null,
  error: string | null = null,
) => ({
  ...{ tuned_first, verdict, text, error },
});
const WHY = 'The reference names 4 crowns, and only one answer does.';
const refused = 'The model server ran out of memory';
const settings = { model: 'crumb-70b', prompt: 'Judge' };
const rows = {
  none: heldOut.map((one) => ({ ...one, outcome: 'open', judge: [] })),
  half: [
    {
      ...row('rye'),
      outcome: 'win',
      judge: [said(false, 'tuned', `${WHY}\nB`), said(true, 'tuned', `${WHY}\nA`)],
    },
    {
      ...row('oat'),
      outcome: 'open',
      judge: [said(false, null, null, refused), said(true, null, null, refused)],
    },
    { ...heldOut[2], outcome: 'tie', judge: [] },
  ],
  all: [
    {
      ...row('rye'),
      outcome: 'win',
      judge: [said(false, 'tuned', `${WHY}\nB`), said(true, 'tuned', `${WHY}\nA`)],
    },
    {
      ...row('oat'),
      outcome: 'no_verdict',
      judge: [said(false, 'tuned', `${WHY}\nB`), said(true, null, 'Answer A.')],
    },
    { ...heldOut[2], outcome: 'tie', judge: [] },
  ],
};
const judgement = (status: string, more: object) => ({
  ...{ run_id: RUN, status, settings, requests: 4, requests_done: 4, requests_failed: 0 },
  ...{ wins: 1, ties: 1, losses: 0, no_verdict: 0, win_rate: 0.75, interval: { low: 0.21, high: 0.97 } },
  ...{
    error: null,
    held: '0',
    cost_so_far: '0.02',
    started_at: AT,
    ended_at: status === 'running' ? null : AT,
  },
  ...more,
});

/** The server as far as the page asks it about the run: what a judge has said by now, and what it was started with. */
async function openRun(page: Page) {
  const judge = { now: null as object | null, started: [] as unknown[] };
  const nothing = { wins: 0, win_rate: null, interval: null, rows: rows.none };
  const answers: Record<string, (body: unknown) => object> = {
    metrics: () => ({ points: [] }),
    logs: () => ({ lines: [] }),
    trackers: () => ({ trackers: [] }),
    share: () => ({ share_link: null }),
    'held-out-answers': () => ({ held_out_answers: { task: 'answer', rows: heldOut, skipped: null } }),
    judgement: () => ({ judgement: judge.now }),
    quote: () => ({ requests: judge.now ? 2 : 4, highest_bgl: '0.4' }),
    start: (body) => {
      judge.started.push(body);
      judge.now = judgement('running', { ...nothing, requests_done: 1 });
      return judge.now;
    },
    cancel: () => {
      judge.now = judgement('cancelled', { ...nothing, requests_done: 0 });
      return judge.now;
    },
  };
  await page.route(`**/api/v1/runs/${RUN}**`, (route) => {
    const request = route.request();
    const last = new URL(request.url()).pathname.split('/').at(-1) ?? '';
    return route.fulfill({ json: answers[last]?.(request.postDataJSON()) ?? run });
  });
  const data = ['crumb-70b', 'starter'].map((id) => ({
    ...{ id, object: 'model', created: 1, owned_by: 'ada', task: 'text', parent: null },
  }));
  await page.route('**/v1/models', (route) => route.fulfill({ json: { object: 'list', data } }));
  await page.goto(`/runs/${RUN}`);
  return judge;
}

journey(
  'the owner of a fine-tune has its answers judged by a model of their choice',
  async ({ page, allowErrors }) => {
    // The model that the run has made is not there, and cannot be deployed.
    allowErrors(/404/);
    await signUp(page);
    const judge = await openRun(page);
    const card = page
      .locator('section')
      .filter({ has: page.getByRole('heading', { name: 'Judged by a model' }) });
    await card.getByText('No model was asked yet.').waitFor();
    await look(page, 'judge-empty');

    await card.getByRole('button', { name: 'Choose a judge' }).click();
    const dialog = page.getByRole('dialog', { name: 'Have the answers judged' });
    await dialog.getByText(/^4 requests\. At most .* is held/).waitFor();
    await dialog.getByRole('button', { name: 'Prompt' }).click();
    const prompt = dialog.getByLabel('Prompt', { exact: true });
    const text = await prompt.inputValue();
    await prompt.fill('Which is better?');
    await dialog.getByRole('button', { name: 'Start' }).click();
    await dialog.getByText('The prompt must have {{question}}, {{answer_a}}, {{answer_b}}').waitFor();
    await prompt.fill(`${text} Be strict.`);
    await look(page, 'judge-asking');
    await dialog.getByRole('button', { name: 'Start' }).click();
    await card.getByText('Asking the judge').waitFor();
    expect(judge.started).toEqual([{ settings: { model: 'crumb-70b', prompt: `${text} Be strict.` } }]);
    await look(page, 'judge-running');
    // It goes on while nobody looks.
    await page.reload();
    await card.getByText('1 of 4').waitFor();
    await card.getByRole('button', { name: 'Cancel' }).click();
    await card.getByText('4 of 4 requests without an answer.').waitFor();

    judge.now = judgement('failed', { rows: rows.half, requests_failed: 2, error: refused });
    await page.reload();
    await card.getByText('2 of 4 requests without an answer.').waitFor();
    await card.getByText(/^2 requests, at most/).waitFor();
    await look(page, 'judge-failed');
    await card.getByRole('button', { name: 'Go on' }).click();
    await card.getByText('Asking the judge').waitFor();
    expect(judge.started[1]).toEqual({});

    judge.now = judgement('completed', { rows: rows.all, no_verdict: 1 });
    await page.reload();
    await card.getByText('These rows show no difference').waitFor();
    await card.getByText(/2 rows say little\./).waitFor();
    await card.getByRole('button', { name: /by the harbour\?.*No verdict/ }).click();
    await card.getByText('This model first: no verdict').waitFor();
    await card.getByText('Answer A.', { exact: true }).waitFor();
    await look(page, 'judge-done');
  },
);
