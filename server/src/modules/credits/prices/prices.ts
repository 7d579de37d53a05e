import type { priceUnit } from '@bakehouse/contract/credits';
import { gpuLabels } from '@bakehouse/contract/limits';
import { BGL_PER_USD, parseBgl } from '@bakehouse/contract/money';
import type * as z from 'zod';

export type Unit = z.infer<typeof priceUnit>;

type Row = { id: string; label: string; unit: Unit; usd: string };

/** The price list, in USD per unit, as operators find it: what they change is kept in the database. */
const rows = [
  {
    id: 'training:NVIDIA_TESLA_V100',
    label: `Training on ${gpuLabels.NVIDIA_TESLA_V100}`,
    unit: 'hour',
    usd: '1.00',
  },
  {
    id: 'training:NVIDIA_TESLA_A100',
    label: `Training on ${gpuLabels.NVIDIA_TESLA_A100}`,
    unit: 'hour',
    usd: '1.60',
  },
  {
    id: 'training:NVIDIA_TESLA_A100_80GB',
    label: `Training on ${gpuLabels.NVIDIA_TESLA_A100_80GB}`,
    unit: 'hour',
    usd: '2.00',
  },
  {
    id: 'training:NVIDIA_H100_80GB',
    label: `Training on ${gpuLabels.NVIDIA_H100_80GB}`,
    unit: 'hour',
    usd: '3.00',
  },
  { id: 'training:CPU', label: "Training on this machine's CPU", unit: 'hour', usd: '0.10' },
  { id: 'text_serving:GPU', label: 'Text model served on a GPU', unit: 'hour', usd: '1.60' },
  { id: 'text_serving:CPU', label: 'Text model served on the CPU', unit: 'hour', usd: '0.05' },
  { id: 'image_serving:GPU', label: 'Image model served on a GPU', unit: 'hour', usd: '1.60' },
  { id: 'image_serving:CPU', label: 'Image model served on the CPU', unit: 'hour', usd: '0.05' },
  { id: 'prompt_tokens:GPU', label: 'Prompt tokens, GPU', unit: 'million_tokens', usd: '0.10' },
  { id: 'completion_tokens:GPU', label: 'Completion tokens, GPU', unit: 'million_tokens', usd: '0.40' },
  { id: 'prompt_tokens:CPU', label: 'Prompt tokens, CPU', unit: 'million_tokens', usd: '0.02' },
  { id: 'completion_tokens:CPU', label: 'Completion tokens, CPU', unit: 'million_tokens', usd: '0.08' },
  { id: 'pictures:CPU', label: 'Pictures drawn on the CPU', unit: 'thousand_expert_steps', usd: '0.25' },
  { id: 'edits', label: 'Pictures edited, or drawn by a deployment', unit: 'thousand_steps', usd: '0.20' },
  // Drawn by services: what the dearest of those that serve a model asks in public.
  { id: 'images:flux', label: 'Picture by FLUX.1', unit: 'image', usd: '0.025' },
  { id: 'images:recraft', label: 'Picture by Recraft V3', unit: 'image', usd: '0.04' },
  { id: 'images:ideogram', label: 'Picture by Ideogram V3', unit: 'image', usd: '0.06' },
  { id: 'images:stable-diffusion', label: 'Picture by Stable Diffusion 3.5', unit: 'image', usd: '0.065' },
  { id: 'images:seedream', label: 'Picture by Seedream 4', unit: 'image', usd: '0.03' },
  { id: 'images:hidream', label: 'Picture by HiDream I1', unit: 'image', usd: '0.05' },
  { id: 'images:qwen-image', label: 'Picture by Qwen-Image', unit: 'image', usd: '0.025' },
  { id: 'images:janus', label: 'Picture by Janus Pro', unit: 'image', usd: '0.01' },
  { id: 'images:minimax-image', label: 'Picture by MiniMax Image-01', unit: 'image', usd: '0.01' },
] as const satisfies Row[];

export type PriceId = (typeof rows)[number]['id'];

/** One thing that costs. `unitPriceMicro` is micro-BGL per unit. */
export type Price = { id: PriceId; label: string; unit: Unit; unitPriceMicro: bigint };

/** What everything costs at one moment. */
export type PriceList = Readonly<Record<PriceId, Price>>;

/** What everything costs until an operator changes it. */
export const defaultPrices = Object.fromEntries(
  rows.map(({ id, label, unit, usd }) => [
    id,
    { id, label, unit, unitPriceMicro: parseBgl(usd) * BGL_PER_USD },
  ]),
) as PriceList;

/** How many of the parts that a meter counts make one unit: hours in milliseconds, tokens, steps and pictures one by one. */
export const partsPerUnit: Record<Unit, bigint> = {
  hour: 3_600_000n,
  million_tokens: 1_000_000n,
  thousand_expert_steps: 1_000n,
  thousand_steps: 1_000n,
  image: 1n,
};
