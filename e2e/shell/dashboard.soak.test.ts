import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { journey, look } from '../journey.ts';
import { LAYOUT_SHIFT_MAX, openAndMeasure, watchLayoutShift } from '../layout-shift.ts';
import { signUp } from '../sign-up.ts';

const NOW = '2026-11-20T08:00:00.000Z';

const deployment = {
  ...{ pod_id: 'p1', deployment_id: 'd1', model_id: 'm1', model_name: 'rye', title: 'Rye chat' },
  ...{ base_model_title: 'SmolLM2-135M-Instruct', status: 'deploying', reason: 'Loading the weights' },
  ...{ stop_reason: null, progress: 40, created_at: NOW, ready_at: null, terminated_at: null },
  ...{ cost_so_far: '0', last_request_at: null, price_per_hour: '1' },
};
const painter = {
  ...{ ...deployment, kind: 'flux-kontext', pod_id: 'p2', title: 'Kontext starter' },
  ...{ reason: 'Waiting for the GPU: 1 before it', progress: 0 },
};
const run = {
  ...{ run_id: 'r1', title: 'Rye model', model_id: 'm1', base_model: { title: 'SmolLM2-135M-Instruct' } },
  ...{ dataset: { title: 'Rye facts' }, state: 'running', phase: 'training', reason: '', progress: 30 },
  ...{ step: 30, steps_total: 100, elapsed_seconds: 60, remaining_seconds: 140, created_at: NOW },
  ...{ charged: null, held: '10', started_at: NOW, ended_at: null, stop_reason: null, summary: null },
};
const waiting = { ...run, run_id: 'r2', title: 'Spelt model', state: 'queued', reason: '', progress: 0 };
const picture = {
  ...{
    id: 'g1',
    generator: 'paris',
    provider: 'own',
    prompt: 'a loaf of bread on a stone',
    state: 'running',
  },
  ...{ reason: '', step: 4, steps: 20, outputs: [], preview: null, parameters: {}, created_at: NOW },
  ...{ started_at: NOW, ended_at: null, root_id: 'g1', source: null, cost: '0.1' },
};

/** Fakes the responses of a server on which work is in progress. */
async function answerAsUnderWay(page: Page): Promise<void> {
  const answers: [string, object][] = [
    ['**/api/v1/users/*/balance', { balance: '100', held: '12', available: '88', sendable: '88' }],
    ['**/api/v1/deployments/vllm/user/*?**', { pods: [deployment], next_cursor: null }],
    ['**/api/v1/deployments/images/user/*?**', { deployments: [painter], next_cursor: null }],
    [
      '**/api/v1/deployments/user/*?**',
      { deployments: [painter, { ...deployment, kind: 'text' }], next_cursor: null },
    ],
    ['**/api/v1/runs?**', { runs: [run, waiting], next_cursor: null }],
    ['**/api/v1/runs', { runs: [run, waiting], next_cursor: null }],
    ['**/api/v1/runs/*/metrics**', { points: [] }],
    ['**/generations?**', { generations: [picture], next_cursor: null }],
    ['**/generations/g1', picture],
  ];
  for (const [address, json] of answers) await page.route(address, (route) => route.fulfill({ json }));
}

journey('the dashboard shows all work in progress, without layout shifts', async ({ page }) => {
  await watchLayoutShift(page.context());
  await signUp(page);
  await answerAsUnderWay(page);
  const { value, moved } = await openAndMeasure(page, '/dashboard');
  expect(value, moved.join('\n')).toBeLessThan(LAYOUT_SHIFT_MAX);
  const main = page.getByRole('main');
  await main.getByRole('heading', { name: 'In progress' }).waitFor();
  for (const title of ['Rye chat', 'Kontext starter', 'Spelt model', 'a loaf of bread on a stone'])
    await main.getByRole('progressbar', { name: `Progress of ${title}` }).waitFor();
  await main.getByRole('progressbar', { name: 'Training' }).waitFor();
  // Image deployments are listed together with text deployments.
  await main
    .getByRole('listitem')
    .filter({ hasText: 'deploying' })
    .getByRole('link', { name: 'Kontext starter' })
    .waitFor();
  await look(page, 'dashboard-under-way');
});
