import type { Generation } from '@bakehouse/contract/generations';

const PICTURE = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==';

/** Returns a finished Paris picture with overrides. */
export function generationOf(changed: Partial<Generation> = {}): Generation {
  return {
    id: 'g1',
    generator: 'paris',
    provider: 'own',
    service: null,
    model: 'paris-ddm-v1.0',
    title: 'Paris starter',
    model_revision: { asset_id: 'm1', revision_id: 'r2', number: 2, title: 'Paris starter' },
    lora_revision: null,
    prompt: 'A loaf of bread',
    parameters: {
      cfg_scale: 7.5,
      num_inference_steps: 20,
      sampling_strategy: 'topk',
      k: 4,
      output_format: 'png',
      seed: null,
    },
    seed: 7,
    source: null,
    root_id: 'g1',
    state: 'completed',
    reason: '',
    refused: false,
    position: null,
    step: 20,
    steps: 20,
    preview: null,
    expert_weights: [[0.7, 0.3, 0, 0, 0, 0, 0, 0]],
    expert_used: 0,
    routing_confidence: 0.7,
    cost: '0.5',
    outputs: [
      {
        id: 'o1',
        url: PICTURE,
        thumbnail_url: PICTURE,
        download_url: PICTURE,
        media_type: 'image/png',
        width: 128,
        height: 128,
        size_bytes: 9,
        duration_s: null,
        frames: null,
        has_audio: null,
        strip_url: null,
      },
    ],
    created_at: '2026-01-01T00:00:00.000Z',
    started_at: '2026-01-01T00:00:01.000Z',
    ended_at: '2026-01-01T00:00:03.500Z',
    ...changed,
  };
}

/** Returns an unfinished generation. */
export function unfinished(changed: Partial<Generation> = {}): Generation {
  return generationOf({ state: 'running', step: 5, outputs: [], ended_at: null, ...changed });
}
