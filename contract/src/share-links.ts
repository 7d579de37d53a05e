import * as z from 'zod';
import { aboutCard } from './asset-commits.ts';
import { assetSource } from './assets.ts';
import { pictureTrainingNumbers, SAMPLE_PROMPTS_MAX, samplePrompt } from './diffusion-fields.ts';
import { endpoint } from './endpoint.ts';
import { flag } from './fields/flag.ts';
import { idOf } from './fields/id.ts';
import { generationOutput } from './generations.ts';
import { generatorNames } from './generators.ts';
import { runStates, trainingKinds } from './runs.ts';
import { heldOutAnswers } from './runtime/report.ts';

/* Links by which whoever made something shows it to anybody: a generation, a training run or a model. */

const share = z.object({
  /** Opens the page of the thing without a key or a session, until it is revoked. */
  url: z.string(),
  created_at: z.string(),
});

const shared = z.object({ share });
/** Null where it is not shared. */
const sharedOrNot = z.object({ share: share.nullable() });
export type ShareLink = z.infer<typeof sharedOrNot>;

const [toLoad, toShare, toStop] = ['load the share link', 'share it', 'stop sharing it'];

const ofGeneration = {
  path: '/api/v1/generations/:id/share',
  access: 'key',
  params: z.object({ id: idOf('generation') }),
} as const;

export const getGenerationShare = endpoint({
  ...ofGeneration,
  method: 'GET',
  operation: toLoad,
  summary: 'Get the share link of a generation',
  response: sharedOrNot,
});

export const shareGeneration = endpoint({
  ...ofGeneration,
  method: 'POST',
  operation: toShare,
  summary:
    'Share a completed generation by a link that opens for anybody; asked for again, it is the same link',
  response: shared,
});

export const unshareGeneration = endpoint({
  ...ofGeneration,
  method: 'DELETE',
  operation: toStop,
  summary: 'Revoke the share link of a generation; the next one is another link',
  status: 204,
});

const ofRun = {
  path: '/api/v1/runs/:runId/share',
  access: 'key',
  params: z.object({ runId: idOf('run') }),
} as const;

export const getRunShare = endpoint({
  ...ofRun,
  method: 'GET',
  operation: toLoad,
  summary: 'Get the share link of a training run',
  response: sharedOrNot,
});

export const shareRun = endpoint({
  ...ofRun,
  method: 'POST',
  operation: toShare,
  summary: 'Share a training run by a link that opens for anybody; asked for again, it is the same link',
  response: shared,
});

export const unshareRun = endpoint({
  ...ofRun,
  method: 'DELETE',
  operation: toStop,
  summary: 'Revoke the share link of a training run; the next one is another link',
  status: 204,
});

const ofModel = {
  path: '/api/v1/asset/:id/share',
  access: 'key',
  params: z.object({ id: idOf('model') }),
} as const;

export const getModelShare = endpoint({
  ...ofModel,
  method: 'GET',
  operation: toLoad,
  summary: 'Get the share link of a model',
  response: sharedOrNot,
});

export const shareModel = endpoint({
  ...ofModel,
  method: 'POST',
  operation: toShare,
  summary:
    'Share a model by a link that shows its card, and no files, to anybody; asked for again, it is the same link',
  response: shared,
});

export const unshareModel = endpoint({
  ...ofModel,
  method: 'DELETE',
  operation: toStop,
  summary: 'Revoke the share link of a model; the next one is another link',
  status: 204,
});

/** Links have 44 characters. */
const token = z.string().max(128);

const anyShared = z.object({
  /** The name of whoever made it; null where that is an email address. */
  maker: z.string().nullable(),
  created_at: z.string(),
});

const sharedOutput = generationOutput
  .pick({ id: true, media_type: true, width: true, height: true, duration_s: true, has_audio: true })
  .extend({
    /** Opens as long as the share link does; relative to this server. */
    url: z.string(),
    /** A copy of at most 512 px, or a video's first frame; the same as `url` where there is none. */
    thumbnail_url: z.string(),
  });

/** What whoever has the link sees of a generation. */
const sharedGeneration = anyShared.extend({
  kind: z.literal('generation'),
  generator: z.enum(generatorNames),
  /** What the generator is called; a starter model that stands in for it is named. */
  title: z.string(),
  prompt: z.string(),
  outputs: z.array(sharedOutput),
});
export type SharedGeneration = z.infer<typeof sharedGeneration>;

/** What checkpoints have drawn, as `GET /api/v1/runs/{runId}/samples` has it. */
const sharedSamples = z.object({
  prompts: z.array(samplePrompt),
  checkpoints: z.array(
    z.object({
      step: z.int(),
      /** They open as long as the share link does. */
      pictures: z.array(z.object({ url: z.string(), width: z.int(), height: z.int() })),
    }),
  ),
});
export type SharedSamples = z.infer<typeof sharedSamples>;

/** The titles of what it was made from; null where it is not for everybody to know. */
const madeFrom = z.object({
  base_model: z.string().nullable(),
  /** Null unless it is published. */
  dataset: z.string().nullable(),
});

/** What whoever has the link sees of a training run: no cost, no log, and of a dataset that is not published nothing. */
const sharedRun = anyShared.extend({
  kind: z.literal('run'),
  trains: z.enum(trainingKinds),
  title: z.string(),
  made_from: madeFrom,
  state: z.enum(runStates),
  step: z.int(),
  steps_total: z.int(),
  elapsed_seconds: z.number(),
  /** The losses of a completed run, as its `summary` has them. */
  summary: z.record(z.string(), z.number()).nullable(),
  /** The training and the held-out loss by step, of a long run not of every step. */
  points: z.array(z.object({ step: z.int(), values: z.record(z.string(), z.number()) })),
  /** Null unless the rows are of datasets that their owner, who shares the run, has published. */
  held_out_answers: heldOutAnswers.nullable(),
  /** Of a run on pictures. */
  samples: sharedSamples.nullable(),
});
export type SharedRun = z.infer<typeof sharedRun>;

/** What whoever has the link sees of a model: what it is, and none of its files. Its card is as it is written. */
const sharedModel = anyShared.extend({
  kind: z.literal('model'),
  title: z.string(),
  details: z.string(),
  /** Under which users of this server find it; null where it is not published. */
  model_id: z.string().nullable(),
  card: aboutCard.card,
  card_metadata: aboutCard.card_metadata,
  /** Of a fine-tune. */
  made_from: madeFrom.nullable(),
  source: assetSource.nullable(),
  file_count: z.int(),
  size_bytes: z.number(),
  /** Of a LoRA that was trained here on pictures: what the base draws, and the model. */
  samples: sharedSamples.nullable(),
});
export type SharedModel = z.infer<typeof sharedModel>;

const sharedThing = z.discriminatedUnion('kind', [sharedGeneration, sharedRun, sharedModel]);
export type SharedThing = z.infer<typeof sharedThing>;
export type SharedKind = SharedThing['kind'];

export const getShared = endpoint({
  method: 'GET',
  path: '/api/v1/shares/:token',
  access: 'public',
  operation: 'open the link',
  summary: 'Get what is behind a share link: a generation, a training run or a model',
  params: z.object({ token }),
  response: sharedThing,
});

export const openSharedOutput = endpoint({
  method: 'GET',
  path: '/api/v1/shares/:token/outputs/:outputId',
  access: 'public',
  summary: 'Show a picture or video behind a share link; supports Range',
  answers: { '*/*': null },
  params: z.object({ token, outputId: idOf('picture') }),
  query: z.object({
    /** The small copy, where there is one. */
    thumbnail: flag.optional(),
  }),
});

export const openSharedSample = endpoint({
  method: 'GET',
  path: '/api/v1/shares/:token/samples/:step/:number',
  access: 'public',
  summary: 'Show what a checkpoint has drawn, behind the share link of its run or model; supports Range',
  answers: { '*/*': null },
  params: z.object({
    token,
    step: z.coerce.number('step must be a number').int().min(0).max(pictureTrainingNumbers.steps.max),
    /** By the order of the prompts, from 0. */
    number: z.coerce
      .number('number must be a number')
      .int()
      .min(0)
      .max(SAMPLE_PROMPTS_MAX - 1),
  }),
});
