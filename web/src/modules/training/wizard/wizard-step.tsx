import type { Dispatch } from 'react';
import type { Suggestion, WizardAction } from './create-model-wizard-state.ts';
import { HubNotice } from './hub-notice.tsx';
import { UploadReview } from './review/upload-review.tsx';
import { StepDetails } from './steps/step-details.tsx';
import { StepParameters } from './steps/step-parameters.tsx';
import { StepSelection } from './steps/step-selection.tsx';
import { StepType } from './steps/step-type.tsx';
import { StepUpload } from './steps/step-upload.tsx';
import type { CreateModel } from './use-create-model.ts';

type Props = {
  wizard: CreateModel;
  /** The file that the person has come from. */
  wantedFile: string | undefined;
};

/** The fields of the current step; of the review and the result there are none. */
export function WizardStep({ wizard, wantedFile }: Props) {
  const { state } = wizard;
  return (
    <>
      {state.type === 'huggingface' && state.step < 5 && <HubNotice />}
      {state.type === 'upload' && state.step > 2 ? (
        <UploadStep wizard={wizard} />
      ) : (
        <FormStep wizard={wizard} wantedFile={wantedFile} />
      )}
    </>
  );
}

function FormStep({ wizard: { state, problems, dispatch, validation }, wantedFile }: Props) {
  const change = changeBy(dispatch);
  const suggest = (values: Suggestion) => dispatch({ do: 'suggest', values });
  switch (state.step) {
    case 1:
      return <StepType value={state.type} error={problems.type} onChange={(type) => change({ type })} />;
    case 2:
      return <StepDetails state={state} problems={problems} onChange={change} />;
    case 3:
      return (
        <StepSelection
          state={state}
          problems={problems}
          wantedFile={wantedFile}
          onChange={change}
          onSuggest={suggest}
          onApply={(configuration) => dispatch({ do: 'apply', configuration })}
        />
      );
    case 4:
      return (
        <StepParameters
          state={state}
          problems={problems}
          criticalErrors={validation?.critical_errors ?? []}
          onChange={(values) => dispatch({ do: 'parameters', values })}
          onSuggest={suggest}
        />
      );
    default:
      return null;
  }
}

function UploadStep({ wizard: { state, problems, dispatch, uploads, modelId } }: Pick<Props, 'wizard'>) {
  if (state.step === 3) {
    return (
      <StepUpload
        files={state.files}
        uploads={uploads}
        error={problems.files}
        onChange={(files) => changeBy(dispatch)({ files })}
      />
    );
  }
  return state.step === 4 && modelId ? <UploadReview modelId={modelId} uploads={uploads} /> : null;
}

type Changed = Extract<WizardAction, { do: 'change' }>['values'];

function changeBy(dispatch: Dispatch<WizardAction>) {
  return (values: Changed) => dispatch({ do: 'change', values });
}
