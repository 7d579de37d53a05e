import { lazy } from 'react';
import type { Sheet } from '../../lib/sheet.ts';
import type { ModelPreset } from './wizard/model-preset.ts';

declare module '../../lib/sheet.ts' {
  interface Sheets {
    'create-model': ModelPreset;
    'train-lora': { dataset?: string };
  }
}

const loadCreateModelSheet = () => import('./wizard/create-model-sheet.tsx');
const CreateModelSheet = lazy(async () => ({ default: (await loadCreateModelSheet()).CreateModelSheet }));

const loadTrainLoraSheet = () => import('./pictures/train-lora-sheet.tsx');
const TrainLoraSheet = lazy(async () => ({ default: (await loadTrainLoraSheet()).TrainLoraSheet }));

export const trainingSheets: Sheet[] = [
  {
    name: 'train-lora',
    label: 'Train a LoRA',
    page: '/diffusion-training',
    preload: loadTrainLoraSheet,
    render: ({ open, onClose, params: { dataset } }) => (
      <TrainLoraSheet open={open} onClose={onClose} dataset={dataset} />
    ),
  },
  {
    name: 'create-model',
    label: 'Create Model',
    page: '/model',
    preload: loadCreateModelSheet,
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
