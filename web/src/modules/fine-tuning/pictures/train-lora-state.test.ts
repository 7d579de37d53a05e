import { pictureTrainingPresets } from '@bakehouse/contract/diffusion-fields';
import { expect, test } from 'vitest';
import {
  choiceOf,
  initialLora,
  type LoraState,
  loraReducer,
  problemsOf,
  suggestedPrompts,
} from './train-lora-state.ts';

const chosen: LoraState = { ...initialLora, name: 'Crayon', baseModelId: 'm1', datasetId: 'd1' };

test('each step can be left once its fields are valid', () => {
  const tried = loraReducer(initialLora, { do: 'continue' });
  expect([tried.step, tried.attempts]).toEqual([0, 1]);
  expect(Object.keys(problemsOf(tried))).toEqual(['name', 'baseModelId', 'datasetId']);
  const training = loraReducer(chosen, { do: 'continue' });
  expect(training.step).toBe(1);
  const wrong = loraReducer(training, { do: 'numbers', values: { sample_every: 1000, lora_r: 129 } });
  expect(problemsOf(wrong)).toEqual({
    lora_r: 'LoRA rank must be at most 128',
    sample_every: 'Steps between samples must be at most 400, the steps of the run',
  });
  expect(problemsOf({ ...training, prompts: 'a\n'.repeat(9) })).toEqual({
    prompts: 'There can be at most 8 sample prompts',
  });
  expect(loraReducer(training, { do: 'continue' }).step).toBe(2);
  expect(loraReducer({ ...training, step: 2, ceiling: '5' }, { do: 'back' })).toMatchObject({
    step: 1,
    ceiling: '',
  });
});

test('a preset follows the size of the base until a number is typed', () => {
  const full = loraReducer(chosen, { do: 'change', values: { size: 'full' } });
  expect(full.numbers).toEqual(pictureTrainingPresets.full.style);
  const typed = loraReducer(chosen, { do: 'numbers', values: { steps: 7 } });
  expect(typed.preset).toBeUndefined();
  expect(loraReducer(typed, { do: 'change', values: { size: 'full' } }).numbers.steps).toBe(7);
  expect(loraReducer(typed, { do: 'preset', preset: 'quick' }).numbers).toEqual(
    pictureTrainingPresets.small.quick,
  );
});

test('the request contains a seed per prompt and omits an empty trigger word', () => {
  expect(choiceOf(initialLora)).toBeNull();
  const choice = choiceOf({ ...chosen, prompts: ' a cat \n\n a dog' });
  expect(choice).toMatchObject({
    ...{ dataset_id: 'd1', model_id: 'm1', steps: 400 },
    sample_prompts: [
      { prompt: 'a cat', seed: 1 },
      { prompt: 'a dog', seed: 2 },
    ],
  });
  expect(choice).not.toHaveProperty('trigger_word');
  expect(choiceOf({ ...chosen, triggerWord: ' zwk ' })).toMatchObject({ trigger_word: 'zwk' });
  expect(suggestedPrompts({ size: 'small', triggerWord: 'zwk' }).split('\n')[0]).toBe('zwk, a red apple');
});
