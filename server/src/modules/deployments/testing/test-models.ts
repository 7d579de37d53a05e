import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { Services } from '../../../platform/context.ts';
import { type Transaction, toJson } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { insertAsset } from '../../assets/insert-asset.ts';
import { recordLineage } from '../../assets/lineage.ts';
import { createRevisionFromBlobs } from '../../assets/revisions/add-revision.ts';
import { registerStarterModel } from '../../models/starter/register-starters.ts';

type Model = { assetId: string; revisionId: string };

/**
 * For tests: inserts a starter model with a GGUF that is never read. Different content creates a newer
 * revision.
 */
export async function insertStarter(
  services: Services,
  slug: string,
  content = 'GGUF, as far as these tests look',
): Promise<Model> {
  const gguf = path.join(services.config.dataDir, 'model.gguf');
  await writeFile(gguf, content);
  return registerStarterModel(services, {
    slug,
    task: 'text',
    title: 'Starter Model',
    details: '',
    category: '',
    tags: [],
    files: [{ path: 'gguf/model-f16.gguf', localPath: gguf }],
  });
}

/** For tests: inserts a model with these files (content by path). An adapter also has a parent. */
export async function insertModel(
  services: Services,
  owner: { userId: string },
  title: string,
  content: Record<string, string | Buffer>,
  parentAssetId: string | null = null,
): Promise<Model> {
  const files = await Promise.all(
    Object.entries(content).map(async ([name, text]) => ({
      path: name,
      ...(await storeBlob(services, Readable.from([text]))),
    })),
  );
  return inTransaction(services.db, async (tx) => {
    const assetId = await insertAsset(tx, {
      ownerUserId: owner.userId,
      datasetType: 'MODEL',
      title,
      category: '',
      details: '',
      tags: [],
      parentAssetId,
    });
    return { assetId, ...(await createRevisionFromBlobs(tx, { assetId, files })) };
  });
}

/**
 * For tests: inserts an embedding model with the files of sentence-transformers. `files` (content by path)
 * replaces some of them.
 */
export async function insertEncoder(
  services: Services,
  owner: { userId: string },
  title: string,
  files: Record<string, string> = {},
): Promise<Model> {
  const modules = ['Transformer', 'Pooling', 'Normalize'].map((type, idx) => ({
    ...{ idx, type: `sentence_transformers.models.${type}` },
    path: type === 'Pooling' ? '1_Pooling' : '',
  }));
  return insertModel(services, owner, title, {
    'modules.json': JSON.stringify(modules),
    'config.json': JSON.stringify({ model_type: 'bert', architectures: ['BertModel'], hidden_size: 4 }),
    'tokenizer.json': '{}',
    '1_Pooling/config.json': JSON.stringify({ pooling_mode: 'mean' }),
    'model.safetensors': `weights of ${title}`,
    ...files,
  });
}

/** For tests: inserts a starter model for embeddings, whose weights are never read. */
export async function insertStarterEncoder(services: Services, slug: string): Promise<Model> {
  const localPath = path.join(services.config.dataDir, 'encoder');
  await writeFile(localPath, '{"model_type":"bert","hidden_size":4}');
  await writeFile(
    `${localPath}.modules`,
    '[{"type":"m.Transformer","path":""},{"type":"m.Pooling","path":"1_Pooling"}]',
  );
  const names = ['config.json', 'tokenizer.json', 'model.safetensors', '1_Pooling/config.json'];
  return registerStarterModel(services, {
    ...{ slug, task: 'embedding', title: 'Sentences', details: '', category: '', tags: [] },
    files: [
      { path: 'modules.json', localPath: `${localPath}.modules` },
      ...names.map((name) => ({ path: name, localPath })),
    ],
  });
}

/**
 * For tests: inserts a small FLUX model in Diffusers' format. `files` (content by path) replaces some of
 * them.
 */
export async function insertFlux(
  services: Services,
  owner: { userId: string },
  title: string,
  files: Record<string, string> = {},
): Promise<Model> {
  return insertModel(services, owner, title, {
    'model_index.json': JSON.stringify({ _class_name: 'FluxKontextPipeline' }),
    'README.md': '---\nlicense: apache-2.0\n---\n',
    'transformer/diffusion_pytorch_model.safetensors': `weights of ${title}`,
    'vae/diffusion_pytorch_model.safetensors': `autoencoder of ${title}`,
    'scheduler/scheduler_config.json': '{}',
    ...files,
  });
}

/**
 * For tests: inserts a small Paris model with the folders in which it is published. `files` (content by path)
 * replaces some files.
 */
export async function insertParis(
  services: Services,
  owner: { userId: string },
  title: string,
  files: Record<string, string> = {},
): Promise<Model> {
  const weights = (text: string) => `${text} of ${title}`;
  return insertModel(services, owner, title, {
    'model_index.json': JSON.stringify({ _class_name: 'DDMPipeline' }),
    'expert_0/diffusion_pytorch_model.safetensors': weights('expert 0'),
    'expert_1/diffusion_pytorch_model.safetensors': weights('expert 1'),
    'router/pytorch_model.safetensors': weights('router'),
    'vae/diffusion_pytorch_model.safetensors': weights('autoencoder'),
    'text_encoder/model.safetensors': weights('text encoder'),
    'tokenizer/vocab.json': '{}',
    ...files,
  });
}

/** For tests: inserts a Wan model in Diffusers' format, whose weights are never read. */
export async function insertWan(
  services: Services,
  owner: { userId: string },
  title: string,
): Promise<Model> {
  const parts = {
    transformer: ['diffusers', 'WanTransformer3DModel'],
    vae: ['diffusers', 'AutoencoderKLWan'],
    text_encoder: ['transformers', 'UMT5EncoderModel'],
    tokenizer: ['transformers', 'T5TokenizerFast'],
    transformer_2: [null, null],
  };
  return insertModel(services, owner, title, {
    'model_index.json': JSON.stringify({ _class_name: 'WanPipeline', ...parts }),
    'scheduler/scheduler_config.json': '{}',
    'transformer/diffusion_pytorch_model.safetensors': `weights of ${title}`,
    'vae/diffusion_pytorch_model.safetensors': `autoencoder of ${title}`,
    'text_encoder/model.safetensors': `text encoder of ${title}`,
    'tokenizer/tokenizer.json': '{}',
  });
}

/** For tests: inserts a model with a trained adapter on the base, without training it. */
export async function insertFineTune(
  services: Services,
  base: Model,
  owner: { userId: string },
  title: string,
  forVllm: { rank: number } | null = null,
): Promise<string> {
  const write = (text: string) => storeBlob(services, Readable.from([text]));
  const adapter = await write(`adapter ${randomUUID()}`);
  const config = await write(JSON.stringify({ r: forVllm?.rank ?? 8, lora_alpha: 8 }));
  const files = [
    { path: 'adapter.gguf', ...adapter },
    { path: 'adapter_config.json', ...config },
    ...(forVllm ? [{ path: 'adapter_model.safetensors', ...adapter }] : []),
  ];
  return inTransaction(services.db, async (tx) => {
    const assetId = await insertAsset(tx, {
      ownerUserId: owner.userId,
      datasetType: 'MODEL',
      title,
      category: '',
      details: '',
      tags: [],
      parentAssetId: base.assetId,
    });
    await createRevisionFromBlobs(tx, { assetId, files });
    await recordLineage(tx, {
      assetId,
      runId: await insertTraining(tx, files),
      base: { ...base, title: 'Starter Model' },
      dataset: { ...base, title: 'Data' },
    });
    return assetId;
  });
}

/** For tests: inserts a training run that has ended with these files. Returns its id. */
export async function insertTraining(
  tx: Transaction,
  files: { path: string; sha256: string }[],
): Promise<string> {
  const now = new Date();
  const { id } = await tx
    .insertInto('workloads')
    .values({
      behaviour: 'run',
      kind: 'fine-tune',
      title: 'Training',
      spec: toJson({}),
      accelerator_count: 0,
      state: 'completed',
      outcome: toJson({ type: 'result', files, summary: {} }),
      check_at: now,
      created_at: now,
      queued_at: now,
      not_before: now,
      ended_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}
