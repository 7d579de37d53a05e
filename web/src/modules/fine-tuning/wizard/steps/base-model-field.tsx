import type { AssetSummary } from '@bakehouse/contract/assets';
import { useEffect, useEffectEvent } from 'react';
import { ButtonLink } from '../../../../ui/button.tsx';
import { Callout } from '../../../../ui/callout.tsx';
import { useUser } from '../../../accounts/session.ts';
import { AssetField } from '../../../datasets/choice/asset-field.tsx';
import { useAllAssets } from '../../../datasets/choice/choices.ts';
import { HubModelField } from '../../../hub/choice/hub-model-field.tsx';
import { useMachine } from '../../../machines/machine-queries.ts';
import { defaultBase, idOfOnlyAsset } from '../suggest.ts';
import type { Suggestion, Wizard, WizardState } from '../wizard-state.ts';

type Props = { wizard: Pick<Wizard, 'state' | 'problems' | 'dispatch'> };

/** The base model: one from this server, or one from the Hub. */
export function BaseModelField({ wizard: { state, problems, dispatch } }: Props) {
  const onChange = (values: Partial<Pick<WizardState, 'baseModelId' | 'hubModelId'>>) =>
    dispatch({ do: 'change', values });
  if (state.type === 'huggingface')
    return (
      <HubModelField
        value={state.hubModelId}
        error={problems.hubModelId}
        onChange={(hubModelId) => onChange({ hubModelId })}
      />
    );
  return (
    <OwnBaseModel
      value={state.baseModelId}
      decides={state.step === 'quick'}
      error={problems.baseModelId}
      onChange={(baseModelId) => onChange({ baseModelId })}
      onSuggest={(values) => dispatch({ do: 'suggest', values })}
    />
  );
}

type OwnProps = {
  value: string | null;
  /** Also preselects a model if there are several. */
  decides: boolean;
  error: string | undefined;
  onChange: (baseModelId: string | null) => void;
  onSuggest: (values: Suggestion) => void;
};

function OwnBaseModel({ value, decides, error, onChange, onSuggest }: OwnProps) {
  const models = useAllAssets(useUser().id, 'MODEL');
  const bases = models.assets.filter(isBase);
  const suggested = models.complete ? (decides ? defaultBase(bases) : idOfOnlyAsset(bases)) : undefined;
  const suggest = useEffectEvent(() => onSuggest({ baseModelId: suggested }));
  // Don't suggest on every render: a field that the user clears stays empty.
  useEffect(() => suggest(), [suggested]);
  const starter = useUnreadyStarter();
  if (decides && models.complete && bases.length === 0) {
    if (starter && starter.state !== 'failed')
      return (
        <Callout title="The starter model is being prepared">
          {starter.detail && `${starter.detail}. `}You can start as soon as it is ready.
        </Callout>
      );
    return (
      <Callout
        tone="warn"
        title="No base model here yet"
        action={
          <ButtonLink size="sm" to="/model" search={{ sheet: 'create-model' }}>
            Add a model
          </ButtonLink>
        }
      >
        Upload a text model, or clone one from the hub.
      </Callout>
    );
  }
  return (
    <AssetField
      types="MODEL"
      label="Base model"
      failed="Base model selector unavailable"
      fits={isBase}
      value={value}
      onChange={onChange}
      error={error}
      help={bases.length === 0 && starter && `The starter model is still being prepared: ${starter.detail}`}
    />
  );
}

/** Returns true for whole text models, including full fine-tunes and exports, but not adapters. */
function isBase(model: AssetSummary): boolean {
  if (model.starter_task === 'embedding' || model.pipeline !== null) return false;
  return model.file_count > 0 && (model.parent_dataset_id === null || model.is_whole);
}

/** Returns the preparation of the starter model, if it isn't ready yet. */
function useUnreadyStarter() {
  const machine = useMachine();
  const starter = machine.data?.preparations.find((one) => one.id === 'starter-language-model');
  return starter?.state === 'ready' ? undefined : starter;
}
