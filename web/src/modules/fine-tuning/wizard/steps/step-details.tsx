import { MODEL_NAME_LENGTH_MIN, uploadBaseModelTypes } from '@bakehouse/contract/limits';
import { Field } from '../../../../ui/field.tsx';
import { Input } from '../../../../ui/input.tsx';
import { Select } from '../../../../ui/select.tsx';
import { TagInput } from '../../../../ui/tag-input.tsx';
import type { Wizard, WizardState } from '../wizard-state.ts';

type Props = { wizard: Pick<Wizard, 'state' | 'problems' | 'dispatch'> };

/** Name of the model and, for an upload, its type. */
export function StepDetails({ wizard: { state, problems, dispatch } }: Props) {
  const onChange = (values: Partial<Pick<WizardState, 'name' | 'tags' | 'baseModelType'>>) =>
    dispatch({ do: 'change', values });
  return (
    <div className="flex flex-col gap-5">
      <Field label="Model name" help={problems.name ? undefined : nameHelp(state)} error={problems.name}>
        <Input
          value={state.name}
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
      <Field label="Tags" aside="Optional" error={problems.tags}>
        <TagInput tags={state.tags} onChange={(tags) => onChange({ tags })} />
      </Field>
    </div>
  );
}

function nameHelp({ type }: WizardState): string {
  const least = `At least ${MODEL_NAME_LENGTH_MIN} characters.`;
  return type === 'upload'
    ? least
    : `The name of your fine-tuned model. You choose its base model next. ${least}`;
}
