import type { ImageDeploymentKind } from '@bakehouse/contract/deployments/images';
import type { GenerationParameters } from '@bakehouse/contract/generations';
import type { GeneratorName } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { completeParameters, formOfStarter } from '@bakehouse/contract/generators/parameters/parameters';
import { starterFor } from '@bakehouse/contract/generators/stand-in';
import { generators } from '@bakehouse/contract/generators/table';
import { wanDefaults } from '@bakehouse/contract/generators/wan';
import {
  type ImageLora,
  type ImageRequest,
  kontextImageRequest,
  parisImageRequest,
  wanVideoRequest,
} from '@bakehouse/contract/runtime/serve-image-spec';
import { costMicro } from '../../billing/prices/cost.ts';
import type { PriceList } from '../../billing/prices/prices.ts';
import { generationMetadata } from '../generations.ts';
import type { GenerationRow } from '../queries.ts';
import { videoSize } from './parameters.ts';

/** Inputs that are not columns of the generation's row. */
type Inputs = { picture: Buffer | null; mask?: Buffer | null; lora?: ImageLora | undefined };

type MadeVideo = { width: number; height: number; durationS: number | null };

/** A generator whose models run on this server. */
export type LocalGenerator = {
  /** Returns the price of one output in micro-BGL. */
  cost: (prices: PriceList, parameters: GenerationParameters) => bigint;
  /** Returns the final charge. It is lower than the held price if the output is smaller than requested. */
  charge?: (heldMicro: bigint, parameters: GenerationParameters, output: MadeVideo) => bigint;
  /** Returns the number of steps. */
  steps: (parameters: GenerationParameters) => number;
  /** Returns the request to the model server. */
  request: (row: GenerationRow, inputs: Inputs) => ImageRequest;
};

const askedSteps = ({ num_inference_steps: steps }: GenerationParameters) => Number(steps);

const paris: Served = {
  deployments: ['paris'],
  steps: askedSteps,
  // Charged per step of each participating expert.
  cost: (prices, { num_inference_steps: steps, k }) =>
    costMicro([{ price: prices['pictures:CPU'], parts: BigInt(Number(steps)) * BigInt(Number(k)) }]),
  request: (row) =>
    parisImageRequest.parse({
      ...requestOf(row),
      guidance: row.parameters.cfg_scale,
      strategy: row.parameters.sampling_strategy,
      k: row.parameters.k,
      format: row.parameters.output_format,
    }),
};

/** The FLUX family edits a picture, or generates from the prompt alone. */
const flux: Served = {
  deployments: ['flux', 'flux-kontext'],
  steps: askedSteps,
  cost: (prices, { num_inference_steps: steps }) =>
    costMicro([{ price: prices.edits, parts: BigInt(Number(steps)) }]),
  request: (row, { picture, mask, lora }) =>
    kontextImageRequest.parse({
      ...requestOf(row),
      guidance: row.parameters.guidance_scale,
      format: 'png',
      picture: picture && picture.toString('base64'),
      mask: mask?.toString('base64'),
      strength: row.parameters.strength,
      negative_prompt: row.parameters.negative_prompt,
      lora,
    }),
};

const wanSteps = ({ num_inference_steps: steps }: GenerationParameters) => Number(steps ?? wanDefaults.steps);

const wanSeconds = ({ duration }: GenerationParameters) => Number(duration ?? wanDefaults.seconds);

/**
 * Returns the work of a video, in steps of a video of the default length and size, rounded up. Twice the
 * length or size counts as twice the steps.
 */
function wanWork(steps: number, video: { seconds: number; width: number; height: number }): bigint {
  const workOfStep = ({ seconds, width, height }: typeof video) => seconds * width * height;
  const usual = workOfStep({ seconds: wanDefaults.seconds, ...videoSize({}) });
  return BigInt(Math.ceil((steps * workOfStep(video)) / usual));
}

const wanWorkAsked = (parameters: GenerationParameters) =>
  wanWork(wanSteps(parameters), { seconds: wanSeconds(parameters), ...videoSize(parameters) });

/** A Wan model also substitutes for other video generators. Their forms have fewer fields. */
const wan: Served = {
  deployments: ['wan'],
  steps: wanSteps,
  cost: (prices, parameters) => costMicro([{ price: prices.videos, parts: wanWorkAsked(parameters) }]),
  // The model may return a shorter or smaller video than requested.
  charge: (heldMicro, parameters, { durationS, ...size }) => {
    const asked = wanWorkAsked(parameters);
    const made = wanWork(wanSteps(parameters), { seconds: durationS ?? wanSeconds(parameters), ...size });
    return made < asked ? (heldMicro * made) / asked : heldMicro;
  },
  request: (row, { picture }) => {
    const { guidance_scale: guidance, negative_prompt: negative } = row.parameters;
    return wanVideoRequest.parse({
      ...requestOf(row),
      guidance: Number(guidance ?? wanDefaults.guidance),
      seconds: wanSeconds(row.parameters),
      ...videoSize(row.parameters),
      negative_prompt: negative ?? '',
      picture: picture && picture.toString('base64'),
    });
  },
};

/** `deployments` are the kinds of deployments that serve the generator. */
type Served = LocalGenerator & { deployments: readonly ImageDeploymentKind[] };

const table: Partial<Record<GeneratorName, Served>> = {
  paris,
  flux,
  'flux-kontext': { ...flux, deployments: ['flux-kontext'] },
  ...{ wan, veo: wan, seedance: wan, kling: wan, hailuo: wan },
};

/** Returns how the model with this queue serves a generator; undefined if it cannot. */
export function localGenerator(name: GeneratorName, queue: string | null): LocalGenerator | undefined {
  const { of, starter } = starterFor(name);
  if (of === name || queue !== `starter:${starter.model}`) return table[name];
  const own = table[of];
  return own && standIn(own, of);
}

/** Returns the kinds of deployments that serve a generator. */
export function deploymentsFor(name: GeneratorName): readonly ImageDeploymentKind[] {
  return table[name]?.deployments ?? [];
}

/**
 * Adapts a starter that substitutes for another generator: it always runs with the default settings of its
 * own page.
 */
function standIn(own: LocalGenerator, of: GeneratorName): LocalGenerator {
  const asOpened = (parameters: GenerationParameters) => ({
    ...openingParameters(of),
    ...(parameters.negative_prompt !== undefined && { negative_prompt: parameters.negative_prompt }),
  });
  const { charge } = own;
  return {
    cost: (prices, parameters) => own.cost(prices, asOpened(parameters)),
    steps: (parameters) => own.steps(asOpened(parameters)),
    request: (row, inputs) => ({
      ...own.request({ ...row, parameters: asOpened(row.parameters) }, inputs),
      metadata: generationMetadata(row),
    }),
    ...(charge && {
      charge: (heldMicro, parameters, output) => charge(heldMicro, asOpened(parameters), output),
    }),
  };
}

/** Returns the default settings on the page of the starter's own generator. */
function openingParameters(name: GeneratorName): GenerationParameters {
  const generator: Generator = generators[name];
  const { qualities, opensOn } = starterFor(name).starter;
  const quality = qualities.find(({ label }) => label === opensOn);
  const { values, problem } = completeParameters(formOfStarter(generator), { ...quality?.settings });
  if (problem) throw new Error(problem.message);
  return values;
}

/**
 * Steps between previews. A preview costs half a step of two experts. The model server skips previews that
 * follow too soon.
 */
const PREVIEW_EVERY = 5;

/** Fields of every request; the metadata is embedded in the file. */
function requestOf(row: GenerationRow) {
  const { prompt, steps, seed } = row;
  const metadata = generationMetadata(row);
  return { prompt, steps, seed: Number(seed), preview_every: PREVIEW_EVERY, metadata };
}
