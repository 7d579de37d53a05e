import { MODEL_NAME_LENGTH_MIN } from '@bakehouse/contract/limits';
import { describe, expect, it } from 'vitest';
import { parameterProblems } from '../parameters/parameter-problems.ts';
import { blankReward } from '../parameters/rewards/reward-draft.ts';
import { initialParameters } from '../parameters/training-parameters.ts';
import { holdAtStart } from './review/agreed-cost.ts';
import { initialState, type WizardState } from './wizard-state.ts';
import { canGoBack, isDirty, stepIndex, stepOf, wizardReducer, wizardSteps } from './wizard-steps.tsx';

const at = (values: Partial<WizardState>): WizardState => ({ ...initialState, ...values });
const problemsOf = (state: WizardState) => stepOf(state).problems(state);
const labelsOf = (type: keyof typeof wizardSteps) => wizardSteps[type].map(({ label }) => label);

it('the steps have the specified labels', () => {
  expect(labelsOf('upload').join(', ')).toBe('Model Type, Model Details, Upload Files, Review');
  expect(labelsOf('finetune').join(', ')).toBe(
    'Model Type, Model Selection, Dataset & Files, Parameters, Review',
  );
  expect(labelsOf('huggingface')).toEqual(labelsOf('finetune'));
});

const gguf = { file: new File(['x'], 'a.gguf'), path: 'a.gguf' };

describe('wizardReducer', () => {
  it('does not continue while the step has errors, and shows them', () => {
    const state = wizardReducer(initialState, { do: 'continue' });
    expect(state).toMatchObject({ step: 'type', attempts: 1 });
    expect(problemsOf(state)).toEqual({ type: 'Please select a model type first' });
  });

  it('goes through the steps of a fine-tune and keeps everything on the way back', () => {
    let state = wizardReducer(initialState, { do: 'change', values: { type: 'finetune' } });
    state = wizardReducer(state, { do: 'continue' });
    state = wizardReducer(state, { do: 'change', values: { name: 'Crumb' } });
    state = wizardReducer(state, { do: 'continue' });
    expect(state.step).toBe('selection');
    state = wizardReducer(wizardReducer(state, { do: 'back' }), { do: 'back' });
    expect(state).toMatchObject({ step: 'type', type: 'finetune', name: 'Crumb' });
  });

  it("an upload continues once its files are uploaded, and shows the server's result", () => {
    const state = at({ step: 'files', type: 'upload', files: [gguf] });
    expect(stepIndex(state) + 1).toBe(3);
    expect(stepOf(state).next.does).toBe('create');
    const review = wizardReducer(state, { do: 'continue' });
    expect(review.step).toBe('uses');
    expect(problemsOf(review)).toEqual({});
    // The model already exists, so Back must not lead to creating it again.
    expect(canGoBack(review)).toBe(false);
    expect(wizardReducer(review, { do: 'back' }).step).toBe('uses');
    expect(wizardReducer(review, { do: 'finish' }).isOver).toBe(true);
  });

  it('goes back from the review to the step of a choice', () => {
    const state = at({ step: 'review', type: 'finetune', ceiling: '2' });
    expect(wizardReducer(state, { do: 'back', to: 'details' })).toMatchObject({
      step: 'details',
      ceiling: '2',
    });
  });

  it('cannot go back from its result', () => {
    const failed = wizardReducer(at({ step: 'review', type: 'finetune', name: 'Crumb' }), { do: 'finish' });
    expect(canGoBack(failed)).toBe(false);
  });

  it('clears the file when the dataset changes, and the columns when the file changes', () => {
    const state = at({
      datasetId: 'a',
      fileName: 'x.csv',
      parameters: {
        ...initialParameters,
        data_format: 'prompt_completion',
        input_column: 'q',
        output_column: 'r',
      },
    });
    const other = wizardReducer(state, { do: 'change', values: { datasetId: 'b' } });
    expect(other.fileName).toBeNull();
    expect(other.parameters).toMatchObject({ data_format: null, input_column: '', output_column: '' });
    const renamed = wizardReducer(state, { do: 'change', values: { name: 'Other' } });
    expect(renamed.parameters.input_column).toBe('q');
  });
});

it('closing loses a typed name, but not a suggested one', () => {
  const filled = wizardReducer(at({ step: 'quick', type: 'finetune' }), {
    do: 'suggest',
    values: { name: 'Facts model' },
  });
  expect(filled.name).toBe('Facts model');
  expect(isDirty(filled)).toBe(false);
  const typed = wizardReducer(filled, { do: 'change', values: { name: 'Crumb' } });
  expect(isDirty(typed)).toBe(true);
  expect(wizardReducer(typed, { do: 'suggest', values: { name: 'Facts model' } }).name).toBe('Crumb');
});

it('the full settings keep the one-screen values and open at the first step with a missing value', () => {
  const chosen = at({
    ...{ step: 'quick', type: 'finetune', name: 'Crumb' },
    ...{ baseModelId: 'base', datasetId: 'a', fileName: 'x.txt' },
  });
  expect(wizardReducer(chosen, { do: 'all settings' })).toEqual({ ...chosen, step: 'parameters' });
  const withoutBase = wizardReducer({ ...chosen, baseModelId: null }, { do: 'all settings' });
  expect(withoutBase.step).toBe('selection');
});

it('fills in a suggestion only if nothing was chosen', () => {
  const values = { baseModelId: 'base', fileName: 'x.csv', input_column: 'q', output_column: 'r' };
  expect(wizardReducer(initialState, { do: 'suggest', values })).toMatchObject({
    baseModelId: 'base',
    datasetId: null,
    fileName: 'x.csv',
    parameters: { input_column: 'q', output_column: 'r' },
  });
  const chosen = at({
    baseModelId: 'mine',
    fileName: 'y.csv',
    parameters: { ...initialParameters, output_column: 'q' },
  });
  // If the user chose one column, the other is not guessed.
  expect(wizardReducer(chosen, { do: 'suggest', values })).toEqual(chosen);
});

it('applies a saved configuration over previous choices', () => {
  const before = at({
    step: 'selection',
    baseModelId: 'base',
    datasetId: 'a',
    fileName: 'x.csv',
    parameters: { ...initialParameters, input_column: 'q', output_column: 'r', epochs: 5 },
  });
  const after = wizardReducer(before, {
    do: 'apply',
    configuration: { asset_id: 'b', file_name: 'y.txt', model_name: 'Other', learning_rate: 0.01 },
  });
  expect(after).toMatchObject({
    step: 'selection',
    name: 'Other',
    baseModelId: 'base',
    datasetId: 'b',
    fileName: 'y.txt',
  });
  // The previous file's columns don't apply to this one.
  expect(after.parameters).toMatchObject({
    learning_rate: 0.01,
    epochs: 5,
    input_column: '',
    output_column: '',
  });
  const older = { file_name: 'y.csv', input_column: 'q', output_column: 'r' };
  expect(wizardReducer(before, { do: 'apply', configuration: older }).parameters.data_format).toBe(
    'prompt_completion',
  );
});

it('applying a configuration fills every field that it names', () => {
  const parameters = {
    epochs: 3,
    learning_rate: 0.0002,
    data_format: 'preference',
    objective: 'dpo',
    adaptation: 'lora',
    beta: 0.3,
    sft_weight: 0.5,
    desirable_weight: 1,
    undesirable_weight: 1,
    ...{ generations: 4, max_new_tokens: 64, temperature: 0.8 },
    ...{
      optimizer: 'adamw' as const,
      lr_scheduler: 'linear' as const,
      warmup_ratio: 0.1,
      weight_decay: 0.01,
    },
    ...{ max_grad_norm: 0.3, neftune_noise_alpha: 0 },
    ...{ eval_steps: 50, early_stopping_patience: 3 },
    input_column: 'q',
    output_column: 'a',
    rejected_column: 'b',
    label_column: '',
    system_column: 's',
    segmentation_method: 'nltk',
    batch_size: 2,
    eval_batch_size: 4,
    gradient_accumulation_steps: 8,
    packing: true,
    max_chunk_size: 1024,
    stride: 64,
    min_segment_length: 20,
    train_test_split: 0.9,
    lora_r: 16,
    lora_dropout: 0.1,
    use_rslora: true,
    use_dora: true,
    lora_target_modules: ['q_proj'],
    accelerator_type: 'NVIDIA_H100_80GB',
    accelerator_count: 2,
  } as const satisfies Record<Exclude<keyof typeof initialParameters, 'rewards'>, unknown>;
  const rewards = [{ type: 'pattern' as const, pattern: '^Yes', weight: 2 }];
  const named = { asset_id: 'd1', base_model: 'm1', file_name: 'rye.csv', model_name: 'Rye' };
  const configuration = { ...named, ...parameters, rewards, lora_target_modules: ['q_proj' as const] };
  expect(wizardReducer(at({ step: 'selection' }), { do: 'apply', configuration })).toMatchObject({
    name: 'Rye',
    baseModelId: 'm1',
    datasetId: 'd1',
    fileName: 'rye.csv',
    parameters: { ...parameters, rewards: [{ ...blankReward, pattern: '^Yes', weight: 2 }] },
  });
});

it("selects GRPO's modules for a file of prompts, with blank rewards", () => {
  const chosen = at({ type: 'finetune', datasetId: 'd', fileName: 'rows.csv' });
  const values = { data_format: 'prompts', input_column: 'q', output_column: 'r' } as const;
  const read = wizardReducer(chosen, { do: 'suggest', values });
  expect(read.parameters).toMatchObject({ ...values, objective: 'grpo' });
  expect(read.parameters.lora_target_modules).toHaveLength(7);
  expect(parameterProblems(read.parameters, 'rows.csv')).toEqual({ rewards: 'Write a pattern' });
});

it("selects DPO's modules for a file of preferences, and all modules again for another file", () => {
  const columns = { input_column: 'q', output_column: 'a', rejected_column: 'b' };
  const chosen = at({ type: 'finetune', datasetId: 'd', fileName: 'rows.csv' });
  const values = { ...columns, data_format: 'preference' } as const;
  const read = wizardReducer(chosen, { do: 'suggest', values });
  expect(read.parameters).toMatchObject({ ...values, objective: 'dpo' });
  expect(read.parameters.lora_target_modules).toHaveLength(7);
  expect(parameterProblems(read.parameters, 'rows.csv')).toEqual({});
  const sft = wizardReducer(read, { do: 'parameters', values: { objective: 'sft' } });
  expect(sft.parameters.lora_target_modules).toContain('lm_head');
  const other = wizardReducer(read, { do: 'change', values: { fileName: 'book.txt' } });
  expect(other.parameters).toEqual(initialParameters);
});

it("selects KTO's modules for a file of feedback, in batches of several rows", () => {
  const columns = { input_column: 'q', output_column: 'a', label_column: 'up' };
  const chosen = at({ type: 'finetune', datasetId: 'd', fileName: 'rows.csv' });
  const values = { ...columns, data_format: 'feedback' } as const;
  const read = wizardReducer(chosen, { do: 'suggest', values });
  expect(read.parameters).toMatchObject({ ...values, objective: 'kto', batch_size: 4 });
  expect(read.parameters.lora_target_modules).toHaveLength(7);
  expect(parameterProblems(read.parameters, 'rows.csv')).toEqual({});
  const applied = wizardReducer(initialState, { do: 'apply', configuration: columns }).parameters;
  expect(applied).toMatchObject({ ...columns, data_format: 'feedback', objective: 'kto' });
});

it('a configuration with a rejected column is for preferences, and its modules override the defaults', () => {
  const columns = { input_column: 'q', output_column: 'a', rejected_column: 'b' };
  const apply = (configuration: object) =>
    wizardReducer(initialState, { do: 'apply', configuration }).parameters;
  expect(apply(columns)).toMatchObject({ ...columns, data_format: 'preference', objective: 'dpo' });
  expect(apply(columns).lora_target_modules).not.toContain('lm_head');
  const own = { ...columns, objective: 'sft', lora_target_modules: ['lm_head'] };
  expect(apply(own)).toMatchObject({ objective: 'sft', lora_target_modules: ['lm_head'] });
});

it('applying a configuration keeps the file only if the dataset is the same', () => {
  const before = at({ step: 'selection', datasetId: 'a', fileName: 'x.csv' });
  const fileAfter = (configuration: { asset_id?: string; file_name?: string }) =>
    wizardReducer(before, { do: 'apply', configuration }).fileName;
  expect(fileAfter({})).toBe('x.csv');
  expect(fileAfter({ asset_id: 'a' })).toBe('x.csv');
  expect(fileAfter({ asset_id: 'b' })).toBeNull();
  expect(fileAfter({ asset_id: 'b', file_name: 'y.csv' })).toBe('y.csv');
});

it('applies a configuration of a Hub model, which is no asset, without a chosen GPU', () => {
  const configuration = { hf_model_id: 'org/base', base_model: 'org-base', accelerator_type: null };
  const after = wizardReducer(at({ type: 'finetune', baseModelId: 'mine' }), { do: 'apply', configuration });
  expect(after).toMatchObject({ type: 'huggingface', baseModelId: null, hubModelId: 'org/base' });
  const own = { do: 'apply', configuration: { base_model: 'mine' } } as const;
  expect(wizardReducer(after, own)).toMatchObject({ type: 'finetune', baseModelId: 'mine' });
  expect(parameterProblems(after.parameters, 'a.txt')).toEqual({
    accelerator_type: 'Please select a GPU configuration',
  });
});

it('a fine-tune from the Hub requires a Hub model but no asset, and continues to the review', () => {
  const chosen = { step: 'selection', type: 'huggingface', datasetId: 'd', fileName: 'x.txt' } as const;
  expect(problemsOf(at(chosen))).toEqual({
    hubModelId: 'Please make sure you have selected a model, dataset, and file',
  });
  const named = wizardReducer(at({ ...chosen, baseModelId: 'another' }), {
    do: 'change',
    values: { hubModelId: 'meta-llama/Llama-3.2-1B' },
  });
  expect(named.baseModelId).toBeNull();
  expect(problemsOf(named)).toEqual({});
  const filled = wizardReducer(named, { do: 'continue' });
  expect(filled.step).toBe('parameters');
  expect(stepOf(filled).next.does).toBe('validate');
  expect(wizardReducer(filled, { do: 'continue' }).step).toBe('review');
});

it('uses the detected format, unless one was chosen', () => {
  const values = { data_format: 'messages', input_column: 'messages' } as const;
  const read = wizardReducer(initialState, { do: 'suggest', values });
  expect(read.parameters).toMatchObject({ ...values, output_column: '', system_column: '' });
  const chosen = at({ parameters: { ...initialParameters, data_format: 'alpaca' } });
  expect(wizardReducer(chosen, { do: 'suggest', values })).toEqual(chosen);
});

describe('problemsOf', () => {
  it('keeps an overlong name, and shows the limit', () => {
    const state = at({ step: 'details', type: 'finetune', name: 'e'.repeat(201) });
    expect(problemsOf(state)).toEqual({ name: 'Name must have at most 200 characters' });
    expect(problemsOf({ ...state, name: 'e'.repeat(200) })).toEqual({});
  });

  it('requires a name of four characters, and the base type of an upload', () => {
    expect(MODEL_NAME_LENGTH_MIN).toBe(4);
    expect(problemsOf(at({ step: 'details', type: 'finetune', name: 'abc ' }))).toHaveProperty('name');
    const tags = ['rye', 'r'.repeat(60)];
    expect(problemsOf(at({ step: 'details', type: 'finetune', name: 'abcd', tags }))).toEqual({
      tags: 'A tag must have at most 50 characters',
    });
    expect(problemsOf(at({ step: 'details', type: 'upload', name: 'abcd' }))).toEqual({
      baseModelType: 'Please fill in all required fields',
    });
  });

  it('names the missing choice of step 3', () => {
    const message = 'Please make sure you have selected a model, dataset, and file';
    expect(stepIndex(at({ step: 'selection', type: 'finetune' })) + 1).toBe(3);
    expect(problemsOf(at({ step: 'selection', type: 'finetune', baseModelId: 'm' }))).toEqual({
      datasetId: message,
    });
    expect(problemsOf(at({ step: 'selection', type: 'finetune', baseModelId: 'm', datasetId: 'd' }))).toEqual(
      {
        fileName: message,
      },
    );
  });
});

describe('the ceiling', () => {
  const review: WizardState = { ...initialState, type: 'finetune', step: 'review' };

  it.each([
    ['', undefined],
    ['12.5', undefined],
    ['0', 'Spending limit must be greater than 0, with at most 6 decimals'],
    ['much', 'Use only digits, and a point for decimals, e.g. 0.02'],
  ])('typed as %j is rejected with %j', (ceiling, problem) => {
    const state = wizardReducer(review, { do: 'ceiling', ceiling });
    expect(problemsOf(state).ceiling).toBe(problem);
  });

  it.each([
    ['', '10'],
    ['12.5', '10'],
    ['9.5', '9.5'],
    ['0', '10'],
    ['much', '10'],
  ])('typed as %j holds %j of a quote of 10', (ceiling, held) => {
    const cost_estimate = { quote: { total: '10' }, ceiling: '15' };
    expect(holdAtStart({ cost_estimate }, ceiling)).toBe(held);
  });

  it('is kept until the run changes, because a new quote may have another default', () => {
    const state = wizardReducer(review, { do: 'ceiling', ceiling: '12.5' });
    const before = wizardReducer(state, { do: 'back' });
    expect(before).toMatchObject({ step: 'parameters', ceiling: '12.5' });
    expect(stepIndex(before) + 1).toBe(4);
    const named = wizardReducer(before, { do: 'change', values: { name: 'Crumb' } });
    expect(named.ceiling).toBe('12.5');
    expect(wizardReducer(named, { do: 'parameters', values: { epochs: 7 } }).ceiling).toBe('');
  });
});

it('is dirty from the first choice to the result', () => {
  expect(isDirty(initialState)).toBe(false);
  expect(isDirty(at({ type: 'upload' }))).toBe(false);
  expect(isDirty(at({ type: 'upload', name: 'Crumb' }))).toBe(true);
  expect(isDirty(at({ step: 'details', type: 'finetune', datasetId: 'd' }))).toBe(false);
  expect(isDirty(at({ step: 'selection', type: 'finetune' }))).toBe(true);
  expect(isDirty(at({ step: 'review', isOver: true, type: 'finetune', name: 'Crumb' }))).toBe(false);
});

it('is not dirty once the model and the files of an upload are on the server', () => {
  const uploaded = at({ step: 'files', type: 'upload', name: 'Crumb', files: [gguf] });
  expect(isDirty(uploaded)).toBe(true);
  const review = wizardReducer(uploaded, { do: 'continue' });
  expect(isDirty(review)).toBe(false);
  expect(isDirty(wizardReducer(review, { do: 'finish' }))).toBe(false);
});

it('a configuration without an adaptation uses an adapter', () => {
  const full = at({ step: 'parameters', parameters: { ...initialParameters, adaptation: 'full' } });
  const adaptationAfter = (configuration: { lora_r?: number; adaptation?: 'full' }) =>
    wizardReducer(full, { do: 'apply', configuration }).parameters.adaptation;
  expect(adaptationAfter({ lora_r: 16 })).toBe('lora');
  expect(adaptationAfter({ adaptation: 'full' })).toBe('full');
});
