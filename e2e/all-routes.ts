import { deployVllm } from '@bakehouse/contract/deployments';
import { cancelRun, listRuns } from '@bakehouse/contract/training';
import type { Client } from '../scripts/client.ts';
import { createFactsDataset, startFactsFineTune } from '../scripts/fine-tune.ts';
import { findStarterModel, waitForMachine } from '../scripts/machine-ready.ts';

type Routes = {
  /** One address for each page of the app, with something on it. */
  paths: string[];
  /** Ends the work that was started for them. */
  end: () => Promise<unknown>;
};

/** Gives a user one of everything, and resolves to the addresses of all pages that a signed-in user has. */
export async function allRoutes(client: Client): Promise<Routes> {
  await waitForMachine(client);
  const { asset: starter } = await findStarterModel(client);
  const dataset = await createFactsDataset(client);
  const model = await startFactsFineTune(client, { dataset, base: starter.dataset_id });
  const { runs } = await client.call(listRuns, { query: { model_id: model } });
  const runId = runs[0]?.run_id ?? '';
  const { pod_id: podId } = await client.call(deployVllm, {
    body: { user_id: client.userId, model_id: starter.dataset_id },
  });
  return {
    paths: [
      '/dashboard',
      '/dataset',
      `/dataset/${dataset}/description`,
      `/dataset/${dataset}/description?tab=rows`,
      '/model',
      `/model/${starter.dataset_id}/description`,
      `/model/${model}/description`,
      '/llm-training',
      `/runs/${runId}`,
      '/my-deployments',
      `/my-deployments/${podId}`,
      '/transactions',
      '/transactions?view=statement',
      '/buy-bagels',
      '/profile',
      '/api-key',
      '/nowhere',
      '/runs/nothing',
    ],
    end: () => client.call(cancelRun, { params: { runId } }),
  };
}
