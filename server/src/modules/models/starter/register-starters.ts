import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { KONTEXT_STARTER } from '@bakehouse/contract/generators/flux-kontext';
import { PARIS_MODEL } from '@bakehouse/contract/generators/paris';
import { WAN_STARTER } from '@bakehouse/contract/generators/wan';
import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { hasOwnedBlob } from '../../../platform/storage/owner-queries.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { enqueueCard } from '../../assets/card/card-data.ts';
import type { StarterTask } from '../../assets/queries.ts';
import { createRevisionFromBlobs, type NewFile } from '../../assets/revisions/add-revision.ts';
import { upsertStarterAsset } from './queries.ts';
import { starterEmbeddingModel, starterLanguageModel } from './starters.ts';

/** Titles and descriptions of the image starter models. */
const cards = {
  paris: {
    slug: PARIS_MODEL,
    title: 'Paris starter',
    details:
      'The starter picture model: eight small experts that were trained separately, and a router that chooses among them. ' +
      'It generates small pictures on the CPU of a laptop, so that the Paris page works everywhere. It is no text model: it ' +
      'can be neither deployed nor fine-tuned.',
    family: 'paris',
    tags: ['text-to-image', 'diffusion', 'mixture-of-experts', 'starter'],
  },
  kontext: {
    slug: KONTEXT_STARTER,
    title: 'Kontext starter',
    details:
      'The starter model that edits pictures: a small FLUX Kontext, which changes a picture by an instruction. It edits ' +
      'small pictures of simple things on the CPU of a laptop, so that editing works everywhere. It is no text model.',
    family: 'flux-kontext',
    tags: ['image-to-image', 'diffusion', 'flux-kontext', 'starter'],
  },
  wan: {
    slug: WAN_STARTER,
    title: 'Wan starter',
    details:
      'The starter video model: a small Wan, which makes videos of two seconds from a prompt, or from a prompt and the ' +
      'picture that they begin with. It knows simple things in motion, and runs on the CPU of a laptop, so that the Wan ' +
      'page works everywhere. It is no text model.',
    family: 'wan',
    tags: ['text-to-video', 'diffusion', 'wan', 'starter'],
  },
};

/** Registers these files as a shared image model. Unchanged files add no revision. */
export async function registerImageStarter(
  services: Services,
  name: keyof typeof cards,
  files: { path: string; localPath: string }[],
): Promise<{ assetId: string; revisionId: string }> {
  const card = { ...cards[name], task: 'image' as const, category: 'Artificial intelligence' };
  return registerStarterModel(services, { ...card, files });
}

type Image = Parameters<typeof registerImageStarter>;

type Files = Image[2];

/** Returns functions that register the files of starter models after their preparation. */
export function registerBuiltInStarters(services: Services) {
  return {
    language: (files: Files) => registerStarterModel(services, { ...starterLanguageModel, files }),
    embedding: (files: Files) => registerStarterModel(services, { ...starterEmbeddingModel, files }),
    image: (name: Image[1], files: Files) => registerImageStarter(services, name, files),
  };
}

/**
 * Registers local files as a shared, immutable model. Updates the model with this slug and adds a revision
 * only if a file differs. Safe to call at every start and from several processes.
 */
export async function registerStarterModel(
  services: Services,
  model: {
    slug: string;
    task: StarterTask;
    title: string;
    details: string;
    category: string;
    family?: string;
    tags: string[];
    files: { path: string; localPath: string }[];
  },
): Promise<{ assetId: string; revisionId: string }> {
  const files: NewFile[] = [];
  for (const { path, localPath } of model.files)
    files.push({ path, ...(await storeFile(services, localPath)) });
  return inTransaction(services.db, async (tx) => {
    const { id: assetId } = await upsertStarterAsset(tx, model);
    const { revisionId } = await createRevisionFromBlobs(tx, {
      assetId,
      files,
      message: 'Bring the starter model up to date',
    });
    await enqueueCard(tx, services.jobs, files);
    return { assetId, revisionId };
  });
}

/** Stores the file if it is not stored yet. Hashing is much faster than writing. */
async function storeFile(
  services: Services,
  localPath: string,
): Promise<{ sha256: string; sizeBytes: number }> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(localPath, { highWaterMark: 1024 * 1024 }), hash);
  const sha256 = hash.digest('hex');
  if (await hasOwnedBlob(services.db, sha256)) return { sha256, sizeBytes: (await stat(localPath)).size };
  return storeBlob(services, createReadStream(localPath, { highWaterMark: 1024 * 1024 }));
}
