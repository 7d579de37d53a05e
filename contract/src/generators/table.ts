import type { GeneratorName } from '../generators.ts';
import { flux } from './flux.ts';
import { fluxKontext } from './flux-kontext.ts';
import type { Generator } from './generator.ts';
import { hailuo } from './hailuo.ts';
import { hidream } from './hidream.ts';
import { ideogram } from './ideogram.ts';
import { imagen } from './imagen.ts';
import { janus } from './janus.ts';
import { kling } from './kling.ts';
import { minimaxImage } from './minimax-image.ts';
import { paris } from './paris.ts';
import { qwenImage } from './qwen-image.ts';
import { recraft } from './recraft.ts';
import { seedance } from './seedance.ts';
import { seedream } from './seedream.ts';
import { stableDiffusion } from './stable-diffusion.ts';
import { veo } from './veo.ts';
import { wan } from './wan.ts';

/** Every generator by its name in URLs. */
export const generators = {
  flux,
  'flux-kontext': fluxKontext,
  recraft,
  ideogram,
  imagen,
  'stable-diffusion': stableDiffusion,
  seedream,
  hidream,
  'qwen-image': qwenImage,
  janus,
  'minimax-image': minimaxImage,
  paris,
  veo,
  kling,
  hailuo,
  wan,
  seedance,
} as const satisfies Record<GeneratorName, Generator>;
