import { trainingParameters } from '@bakehouse/contract/runtime/train-spec';
import type { WorkloadSpec } from '../model/workload.ts';

/** A spec for tests around a run; its title determines what a scripted workload does. */
export function testSpec(title: string, inputs: WorkloadSpec['inputs'] = []): WorkloadSpec {
  return {
    kind: 'train',
    method: 'lora',
    title,
    base_model_title: 'tiny',
    dataset_title: 'rows',
    sources: null,
    inputs,
    data: {
      file_path: 'rows.csv',
      format: null,
      input_column: 'question',
      output_column: 'answer',
      rejected_column: null,
      label_column: null,
      system_column: null,
      segmentation_method: 'regex',
      max_chunk_size: 64,
      stride: 8,
      min_segment_length: 1,
      validation_path: null,
      train_test_split: 0.8,
      seed: 1,
      date: '2026-11-20',
    },
    parameters: trainingParameters.parse({
      epochs: 1,
      learning_rate: 0.001,
      batch_size: 1,
      packing: false,
      eval_batch_size: 1,
      gradient_accumulation_steps: 1,
      lora: { r: 4, alpha: 8, dropout: 0, target_modules: ['q_proj'] },
    }),
    device: 'cpu',
    gpus: 1,
  };
}
