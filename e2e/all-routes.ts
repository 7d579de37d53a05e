import { deployVllm } from '@bakehouse/contract/deployments';
import { startGeneration } from '@bakehouse/contract/generations';
import { deployFluxKontext } from '@bakehouse/contract/image-deployments';
import { KONTEXT_STARTER } from '@bakehouse/contract/kontext';
import { cancelRun, listRuns } from '@bakehouse/contract/training';
import type { Client } from '../scripts/client/client.ts';
import { createFactsDataset, startFactsFineTune } from '../scripts/client/fine-tune.ts';
import { findStarterModel, waitForMachine } from '../scripts/client/machine-ready.ts';

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
  const { pod_id: imagePodId } = await client.call(deployFluxKontext, {
    body: { user_id: client.userId, model_id: KONTEXT_STARTER },
  });
  const { id: picture } = await client.call(startGeneration, {
    body: { generator: 'paris', prompt: 'a loaf of bread', parameters: { num_inference_steps: 10 } },
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
      '/runs',
      `/runs/${runId}`,
      '/my-deployments',
      `/my-deployments/${podId}`,
      ...['/my-deployments/images', `/my-deployments/images/${imagePodId}`],
      '/transactions',
      '/transactions?view=statement',
      '/buy-bagels',
      '/docs',
      '/docs/ledger',
      '/instant-generation',
      '/flux',
      ...['/paris', '/gallery', `/gallery/${picture}`],
      '/bakery/wan',
      ...['/flux-kontext', '/bakery/flux-kontext'],
      '/profile',
      '/api-key',
      '/invite',
      '/verify-email?token=nothing',
      '/dashboard?sheet=contact',
      '/dashboard?sheet=send-credits',
      '/dashboard?sheet=transaction-history',
      '/operator/codes',
      '/operator/ledger',
      '/operator/prices',
      '/operator/accounts',
      '/operator/audit',
      '/operator/messages',
      '/nowhere',
      '/runs/nothing',
      '/model/source/nobody%2Fnothing/description',
      '/operator/access-requests',
    ],
    end: () => client.call(cancelRun, { params: { runId } }),
  };
}
