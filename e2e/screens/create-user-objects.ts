import { setTimeout as sleep } from 'node:timers/promises';
import { createAsset, updateAsset } from '@bakehouse/contract/assets';
import { createCodes } from '@bakehouse/contract/codes';
import { contactUs } from '@bakehouse/contract/contact';
import { grantCredits, listPrices } from '@bakehouse/contract/credits';
import { listDeployments } from '@bakehouse/contract/deployments/all';
import { imageCalls } from '@bakehouse/contract/deployments/images';
import { deployVllm } from '@bakehouse/contract/deployments/text';
import { addDocument, createDraft } from '@bakehouse/contract/drafts';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { listGenerations, startGeneration } from '@bakehouse/contract/generations';
import { KONTEXT_STARTER } from '@bakehouse/contract/generators/flux-kontext';
import { changePrice } from '@bakehouse/contract/prices';
import { requestAccess, saveRestrictedModel } from '@bakehouse/contract/restricted-models';
import { cancelRun, getRun, listRuns } from '@bakehouse/contract/runs';
import { expect } from 'vitest';
import type { Client } from '../../scripts/client/client.ts';
import { createFactsDataset, startFactsFineTune } from '../../scripts/client/fine-tune.ts';
import { findStarterModel, waitForMachine } from '../../scripts/client/machine-ready.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Ids of the objects of a user. */
export type UserObjects = {
  dataset: string;
  emptyDataset: string;
  draft: string;
  starter: string;
  model: string;
  run: string;
  pod: string;
  imagePod: string;
  picture: string;
  otherPicture: string;
};

/** Creates one object of each kind for a user. `end` ends the work that was started for them. */
export async function createUserObjects(
  client: Client,
): Promise<UserObjects & { end: () => Promise<unknown> }> {
  await waitForMachine(client);
  const { asset: starter } = await findStarterModel(client);
  const dataset = await createFactsDataset(client);
  await client.call(updateAsset, { params: { id: dataset }, body: { use_ipfs: true } });
  const emptyDataset = await client.call(createAsset, {
    body: { dataset_type: 'RAW', title: 'Empty', category: 'Book', user_id: client.userId },
  });
  const draft = await makeDraft(client);
  const model = await startFactsFineTune(client, { dataset, base: starter.dataset_id });
  const { runs } = await client.call(listRuns, { query: { model_id: model } });
  const run = runs[0]?.run_id ?? '';
  const { pod_id: pod } = await client.call(deployVllm, {
    body: { user_id: client.userId, model_id: starter.dataset_id },
  });
  const { pod_id: imagePod } = await client.call(imageCalls['flux-kontext'].deploy, {
    body: { user_id: client.userId, model_id: KONTEXT_STARTER },
  });
  const generate = async (steps: number): Promise<string> => {
    const body = {
      generator: 'paris',
      prompt: 'a loaf of bread',
      parameters: { num_inference_steps: steps },
    } as const;
    return (await client.call(startGeneration, { body })).id;
  };
  return {
    ...{ dataset, emptyDataset, draft, starter: starter.dataset_id, model, run, pod, imagePod },
    ...{ picture: await generate(10), otherPicture: await generate(12) },
    end: () => endWork(client, run),
  };
}

/** Creates a draft with a document. */
async function makeDraft(client: Client): Promise<string> {
  const { draft_id: id } = await client.call(createDraft, {});
  const body = new FormData();
  body.set('document', new Blob(['# Opening hours\nThe bakery opens at seven.']), 'hours.md');
  const answer = await fetch(new URL(endpointUrl(addDocument.path, { draft_id: id }), client.url), {
    ...{ method: addDocument.method, headers: { 'x-api-key': client.apiKey }, body },
  });
  expect(answer.status, await answer.text()).toBe(201);
  return id;
}

/**
 * Cancels the run, and waits until nothing runs. Work that ends during a measurement would shift the page.
 */
async function endWork(client: Client, runId: string): Promise<void> {
  await client.call(cancelRun, { params: { runId } });
  const params = { userId: client.userId };
  for (;;) {
    const { ended_at } = await client.call(getRun, { params: { runId } });
    const { deployments } = await client.call(listDeployments, { params });
    const { generations } = await client.call(listGenerations, { params });
    const isStarting = deployments.some(({ status }) => status === 'queued' || status === 'deploying');
    const isGenerating = generations.some((generation) => generation.ended_at === null);
    if (ended_at !== null && !isStarting && !isGenerating) return;
    await sleep(500);
  }
}

/** Ids of objects that only operators see. */
export type OperatorThings = { restrictedModel: string };

/** Creates the content of the operators' pages, as an operator and as a visitor. */
export async function makeOperatorThings(operator: Client, guest: Client): Promise<OperatorThings> {
  await operator.call(createCodes, { body: { amount: '50', count: 2, note: 'Workshop' } });
  await operator.call(grantCredits, { body: { recipient_id: guest.userId, amount: '5' } });
  const { prices } = await operator.call(listPrices, {});
  await operator.call(changePrice, {
    body: {
      price_id: prices[0]?.id ?? '',
      unit_price: '5',
      valid_from: new Date(Date.now() + DAY_MS).toISOString(),
    },
  });
  const restrictedModel = 'bakehouse/crumb-70b';
  const params = { modelId: restrictedModel };
  await operator.call(saveRestrictedModel, { params, body: { name: 'Crumb 70B' } });
  await guest.call(requestAccess, { params, body: { message: 'To bake with it' } });
  await guest.call(contactUs, {
    body: { user_id: guest.userId, subject: 'Invoice', message: 'Where do I find the invoice?' },
  });
  return { restrictedModel };
}
