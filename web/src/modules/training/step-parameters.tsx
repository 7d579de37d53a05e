import { bounds, loraTargetModules, segmentationMethods } from '@bakehouse/contract/limits';
import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { Callout } from '../../ui/callout.tsx';
import { CheckboxGroup } from '../../ui/checkbox-group.tsx';
import { Disclosure } from '../../ui/disclosure.tsx';
import { Field } from '../../ui/field.tsx';
import { NumberField } from '../../ui/number-field.tsx';
import { Select } from '../../ui/select.tsx';
import {
  differsFromDefaults,
  isTextFile,
  learningRateAdvice,
  type Problems,
  type Suggestion,
  type TrainingParameters,
  type WizardState,
} from './create-model-wizard-state.ts';
import { FormatFields } from './format-fields.tsx';
import { GpuFields } from './gpu-fields.tsx';

type Props = {
  state: WizardState;
  problems: Problems;
  /** What the server found to stand in the way, most important first. */
  criticalErrors: string[];
  onChange: (values: Partial<TrainingParameters>) => void;
  onSuggest: (values: Suggestion) => void;
};

const targetModules = loraTargetModules.map((module) => ({
  value: module,
  label: <code className="font-mono text-[0.8125rem]">{module}</code>,
}));

const learningRatePresets = [0.001, 0.0002, 0.00005];

/** How it is trained, and on what. */
export function StepParameters({ state, problems, criticalErrors, onChange, onSuggest }: Props) {
  const { parameters, fileName } = state;
  const number = (field: NumericField, label: string, help?: ReactNode) => (
    <Field label={label} help={help} error={problems[field]}>
      <NumberField
        value={Number.isNaN(parameters[field]) ? null : parameters[field]}
        onChange={(value) => onChange({ [field]: value ?? Number.NaN })}
        {...bounds[field]}
      />
    </Field>
  );
  return (
    <div className="flex flex-col gap-6">
      {criticalErrors.length > 0 && (
        <Callout tone="bad" title="Validation Failed">
          <ul className="list-disc pl-4">
            {criticalErrors.map((error) => (
              <li key={error}>{error}</li>
            ))}
          </ul>
        </Callout>
      )}
      {fileName && !isTextFile(fileName) && (
        <FormatFields state={state} problems={problems} onChange={onChange} onSuggest={onSuggest} />
      )}

      <div className="grid gap-5 sm:grid-cols-2">
        {number('epochs', 'Epochs', 'How many times the model sees every row.')}
        <Field
          label="Learning rate"
          error={problems.learning_rate}
          help={
            learningRateAdvice(parameters.learning_rate) ?? (
              <span className="flex flex-wrap items-center gap-1">
                Common values:
                {learningRatePresets.map((rate) => (
                  <Button
                    key={rate}
                    size="sm"
                    variant="ghost"
                    onClick={() => onChange({ learning_rate: rate })}
                  >
                    {rate}
                  </Button>
                ))}
              </span>
            )
          }
        >
          <NumberField
            value={Number.isNaN(parameters.learning_rate) ? null : parameters.learning_rate}
            onChange={(value) => onChange({ learning_rate: value ?? Number.NaN })}
            min={0}
            step={bounds.learning_rate.step}
            maxDecimals={8}
          />
        </Field>
        {number('batch_size', 'Batch size')}
        {number('gradient_accumulation_steps', 'Gradient accumulation', 'Batches per training step.')}
        {number('eval_batch_size', 'Eval batch size')}
        {number(
          'train_test_split',
          'Train/test split',
          'Share used for training; the rest measures the result.',
        )}
      </div>

      <GpuFields parameters={parameters} problems={problems} onChange={onChange} />

      <Disclosure title="Segmentation" defaultOpen={differsFromDefaults(parameters, 'segmentation')}>
        <div className="grid gap-5 sm:grid-cols-2">
          <Field label="Method" help="How long texts are split into sentences.">
            <Select
              value={parameters.segmentation_method}
              onChange={(segmentation_method) => onChange({ segmentation_method })}
              options={segmentationMethods.map((method) => ({ value: method, label: method }))}
            />
          </Field>
          {number('max_chunk_size', 'Max chunk size', 'At most this many tokens per example.')}
          {number('stride', 'Stride', 'Tokens shared by neighbouring chunks.')}
          {number('min_segment_length', 'Min segment length', 'Shorter texts are dropped.')}
        </div>
      </Disclosure>

      <Disclosure title="LoRA" defaultOpen={differsFromDefaults(parameters, 'lora')}>
        <div className="grid gap-5 sm:grid-cols-2">
          {number('lora_r', 'Rank', 'Size of the adapter.')}
          {number('lora_dropout', 'Dropout')}
        </div>
        <Field label="Target modules" className="mt-5" error={problems.lora_target_modules}>
          <CheckboxGroup
            value={parameters.lora_target_modules}
            onChange={(lora_target_modules) => onChange({ lora_target_modules })}
            options={targetModules}
            className="grid grid-cols-2 gap-2 sm:grid-cols-4"
          />
        </Field>
      </Disclosure>
    </div>
  );
}

/** Numbers with bounds of their own. */
type NumericField = Exclude<keyof typeof bounds, 'learning_rate'>;
