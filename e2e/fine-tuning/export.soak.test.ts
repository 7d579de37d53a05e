import { expect } from 'vitest';
import { createDataset } from '../create-dataset.ts';
import { journey, look } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const RUN = '5f0c1f3e-3b0f-4b7e-9d2b-0a1a6c1f7e11';
const quote = (total: string) => ({ items: [], total, total_usd: '0.02' });

/** A finished export, as the server returns it. */
const run = (modelId: string) => ({
  ...{ run_id: RUN, user_id: 'ada', title: 'Grains model (GGUF Q8_0)', model_id: modelId, kind: 'export' },
  base_model: { dataset_id: modelId, revision_id: RUN, title: 'Grains model' },
  dataset: { dataset_id: modelId, revision_id: RUN, title: 'Grains', file_name: null },
  parameters: { format: 'gguf_q8_0' },
  ...{ state: 'completed', reason: '', phase: null, step: 273, steps_total: 273, progress: 100 },
  ...{ elapsed_seconds: 14, remaining_seconds: null, device: 'CPU', quote: quote('0.5') },
  ...{ held: '0', charged: '0.25', cost_so_far: '0.25', ceiling: '0.75', stop_reason: null },
  ...{ resume_hold: null, resume_unpaid: null, resume_ceiling: null, restarts: 0 },
  summary: { prompts: 5, equal_answers: 4, size_bytes: 144_812_285, file_name: 'grains-model-Q8_0' },
  created_at: '2026-11-20T08:00:00.000Z',
  started_at: '2026-11-20T08:00:05.000Z',
  ended_at: '2026-11-20T08:00:40.000Z',
});

journey(
  'a fine-tune is exported in a chosen format, and its run shows how to run it elsewhere',
  async ({ page, allowErrors }) => {
    // The model that stands in for the fine-tune cannot be deployed.
    allowErrors(/409/);
    await signUp(page);
    await createDataset(page, { name: 'Grains', file: { name: 'grains.csv', text: 'a,b\nc,d\n' } });
    const id = /dataset\/([^/]+)/.exec(page.url())?.[1] ?? '';
    // Fakes a fine-tune, because a real one would take minutes. Tests of the server cover it.
    const source = { dataset_id: id, revision_id: RUN, title: 'Grains' };
    await page.route(`**/api/v1/asset/${id}`, async (route) => {
      const asset = (await (await route.fetch()).json()) as object;
      const lineage = { run_id: RUN, base_model: source, dataset: source };
      await route.fulfill({ json: { ...asset, dataset_type: 'MODEL', title: 'Grains model', lineage } });
    });
    await page.route(`**/api/v1/asset/${id}/readiness`, (route) =>
      route.fulfill({ json: { deploy: null, train: null, lora: false } }),
    );
    await page.route(`**/api/v1/asset/${id}/exports`, async (route) => {
      const started = route.request().method() === 'POST';
      const exports = [
        { format: 'safetensors', size_bytes: 269_060_552, obstacle: null, quote: quote('0.4') },
        { format: 'gguf_f16', size_bytes: 269_060_552, obstacle: null, quote: quote('0.5') },
        { format: 'gguf_q8_0', size_bytes: 142_938_418, obstacle: null, quote: quote('0.5') },
      ];
      const json = started ? { run_id: RUN, model_id: id } : { obstacle: null, exports };
      await route.fulfill({ status: started ? 201 : 200, json });
    });
    await page.route(`**/api/v1/runs/${RUN}**`, (route) => {
      const path = new URL(route.request().url()).pathname;
      if (path.endsWith('/metrics')) return route.fulfill({ json: { points: [] } });
      if (path.endsWith('/logs')) return route.fulfill({ json: { lines: [] } });
      if (path.endsWith('/held-out-answers')) return route.fulfill({ json: { held_out_answers: null } });
      return route.fulfill({ json: run(id) });
    });
    await page.goto(`/model/${id}/description`);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Export' }).click();
    const dialog = page.getByRole('dialog', { name: 'Export' });
    await dialog.getByRole('radio', { name: 'GGUF Q8_0' }).click();
    await look(page, 'export-dialog');
    await dialog.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('heading', { name: 'Run it on your computer' }).waitFor();
    expect(await page.getByRole('region', { name: 'Ollama' }).textContent()).toContain(
      'ollama create grains-model-q8_0 -f Modelfile',
    );
    await look(page, 'export-done');
  },
);
