import type { AssetSummary } from '@bakehouse/contract/assets';
import { useEffect, useEffectEvent } from 'react';
import { useUser } from '../../../accounts/session.ts';
import { AssetField } from '../../../assets/choice/asset-field.tsx';
import { useAllAssets } from '../../../assets/choice/choices.ts';
import { HubModelField } from '../../../hub/choice/hub-model-field.tsx';
import { useMachine } from '../../../machines/machine-queries.ts';
import { onlyOne } from '../suggest.ts';
import type { Suggestion, Wizard, WizardState } from '../wizard-state.ts';

type Props = { wizard: Pick<Wizard, 'state' | 'problems' | 'dispatch'> };

/** What is fine-tuned: one of the models here, or one from the hub. */
export function BaseModelField({ wizard: { state, problems, dispatch } }: Props) {
  const onChange = (values: Partial<Pick<WizardState, 'baseModelId' | 'hubModelId'>>) =>
    dispatch({ do: 'change', values });
  if (state.type === 'huggingface')
    return (
      <HubModelField
        value={state.hubModelId}
        cloneId={state.baseModelId}
        error={problems.hubModelId}
        onChange={(hubModelId) => onChange({ hubModelId })}
        onClone={(baseModelId) => onChange({ baseModelId })}
      />
    );
  return (
    <OwnBaseModel
      value={state.baseModelId}
      error={problems.baseModelId}
      onChange={(baseModelId) => onChange({ baseModelId })}
      onSuggest={(values) => dispatch({ do: 'suggest', values })}
    />
  );
}

type OwnProps = {
  value: string | null;
  error: string | undefined;
  onChange: (baseModelId: string | null) => void;
  onSuggest: (values: Suggestion) => void;
};

function OwnBaseModel({ value, error, onChange, onSuggest }: OwnProps) {
  const models = useAllAssets(useUser().id, 'MODEL');
  const bases = models.assets.filter(isBase);
  const only = models.complete ? onlyOne(bases) : undefined;
  const suggest = useEffectEvent(() => onSuggest({ baseModelId: only }));
  // Not at each render: what the person then empties stays empty.
  useEffect(() => suggest(), [only]);
  return (
    <AssetField
      types="MODEL"
      label="Base model"
      failed="Base model selector unavailable"
      fits={isBase}
      value={value}
      onChange={onChange}
      error={error}
      help={<StarterHint missing={bases.length === 0} />}
    />
  );
}

/** A fine-tune stands on a whole text model, not on another adapter. */
function isBase(model: AssetSummary): boolean {
  if (model.starter_task === 'embedding') return false;
  return model.parent_dataset_id === null && model.file_count > 0 && model.pipeline === null;
}

/** Why there may be no base model yet. */
function StarterHint({ missing }: { missing: boolean }) {
  const machine = useMachine();
  const starter = machine.data?.preparations.find((one) => one.id === 'starter-language-model');
  if (!missing || !starter || starter.state === 'ready') return null;
  return <>The starter model is still being prepared: {starter.detail}</>;
}
