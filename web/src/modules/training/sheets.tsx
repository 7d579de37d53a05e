import { loadable } from '../../lib/loadable.tsx';
import type { Sheet } from '../../lib/sheet.ts';
import type { ModelPreset } from './wizard/model-preset.ts';

declare module '../../lib/sheet.ts' {
  interface Sheets {
    'create-model': ModelPreset;
    'train-lora': { dataset?: string };
  }
}

const CreateModelSheet = loadable(
  async () => (await import('./wizard/create-model-sheet.tsx')).CreateModelSheet,
);

const TrainLoraSheet = loadable(async () => (await import('./pictures/train-lora-sheet.tsx')).TrainLoraSheet);

export const trainingSheets: Sheet[] = [
  {
    name: 'train-lora',
    label: 'Train a LoRA',
    page: '/diffusion-training',
    preload: TrainLoraSheet.preload,
    render: ({ open, onClose, params: { dataset } }) => (
      <TrainLoraSheet open={open} onClose={onClose} dataset={dataset} />
    ),
  },
  {
    name: 'create-model',
    label: 'Create Model',
    page: '/model',
    preload: CreateModelSheet.preload,
    render: ({ open, onClose, params: { dataset, dataFile, baseModel, modelType, settings, dropped } }) => (
      <CreateModelSheet
        open={open}
        onClose={onClose}
        dataset={dataset}
        dataFile={dataFile}
        baseModel={baseModel}
        dropped={dropped}
        settings={settings === 'suggested' ? settings : undefined}
        modelType={modelType === 'finetune' ? modelType : undefined}
      />
    ),
  },
];
