import { MODEL_NAME_LENGTH_MIN, uploadBaseModelTypes } from '@bakehouse/contract/limits';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { Select } from '../../../ui/select.tsx';
import { TagInput } from '../../../ui/tag-input.tsx';
import { BaseModelField } from './base-model-field.tsx';
import type { Problems, Suggestion, WizardState } from './create-model-wizard-state.ts';

type Props = {
  state: WizardState;
  problems: Problems;
  onChange: (
    values: Partial<Pick<WizardState, 'name' | 'tags' | 'baseModelType' | 'baseModelId' | 'hubModelId'>>,
  ) => void;
  onSuggest: (values: Suggestion) => void;
};

/** Of an upload what it is; of a fine-tune which model it starts from; of both what it is called. */
export function StepDetails({ state, problems, onChange, onSuggest }: Props) {
  return (
    <div className="flex flex-col gap-5">
      {state.type !== 'upload' && (
        <BaseModelField state={state} problems={problems} onChange={onChange} onSuggest={onSuggest} />
      )}
      <Field label="Model name" help={problems.name ? undefined : nameHelp(state)} error={problems.name}>
        <Input
          value={state.name}
          maxLength={200}
          autoComplete="off"
          placeholder="Support assistant"
          onChange={(event) => onChange({ name: event.target.value })}
        />
      </Field>
      {state.type === 'upload' && (
        <Field label="Base model type" error={problems.baseModelType}>
          <Select
            value={state.baseModelType}
            onChange={(baseModelType) => onChange({ baseModelType })}
            options={uploadBaseModelTypes.map((type) => ({ value: type, label: type }))}
          />
        </Field>
      )}
      <Field label="Tags" aside="Optional">
        <TagInput tags={state.tags} onChange={(tags) => onChange({ tags })} />
      </Field>
    </div>
  );
}

function nameHelp({ type }: WizardState): string {
  const least = `At least ${MODEL_NAME_LENGTH_MIN} characters.`;
  return type === 'upload' ? least : `What your fine-tuned model will be called. ${least}`;
}
