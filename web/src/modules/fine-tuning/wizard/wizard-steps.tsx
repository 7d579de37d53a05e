import { MODEL_NAME_LENGTH_MIN, NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import type { ComponentType } from 'react';
import { tagsProblem } from '../../../ui/tags-problem.ts';
import { nameProblem } from '../../../ui/text-problem.ts';
import { ceilingProblem, parameterProblems } from '../parameters/parameter-problems.ts';
import type { ModelType } from '../parameters/training-parameters.ts';
import { QuickStep } from './quick/quick-step.tsx';
import { StepReview } from './review/step-review.tsx';
import { UploadReview } from './review/upload-review.tsx';
import { StepDetails } from './steps/step-details.tsx';
import { StepParameters } from './steps/step-parameters.tsx';
import { StepSelection } from './steps/step-selection.tsx';
import { StepType } from './steps/step-type.tsx';
import { StepUpload } from './steps/step-upload.tsx';
import {
  type Problems,
  type StepId,
  type Wizard,
  type WizardAction,
  type WizardState,
  withChange,
} from './wizard-state.ts';

type Step = {
  id: StepId;
  label: string;
  /** What the step asks, as a question or a request. */
  asks: string;
  Component: ComponentType<{ wizard: Wizard }>;
  /** Returns the errors that block the step, by field. */
  problems: (state: WizardState) => Problems;
  /** The step's button and its action. */
  next: { label: string; does: 'continue' | 'validate' | 'create' | 'start' | 'finish' };
  /** Set if everything is saved on the server: closing loses nothing, and Back is hidden. */
  isSaved?: true;
  /** Set if Enter in a field must not submit the step. */
  isNoForm?: true;
};

const continueAction = { label: 'Continue', does: 'continue' } as const;

const type: Step = {
  id: 'type',
  label: 'Model Type',
  asks: 'What do you want to make?',
  Component: StepType,
  problems: (state) => (state.type ? {} : { type: 'Please select a model type first' }),
  next: continueAction,
};

const details: Step = {
  id: 'details',
  label: 'Model Selection',
  asks: 'What will your model be called?',
  Component: StepDetails,
  problems: nameProblems,
  next: continueAction,
};

const selection: Step = {
  id: 'selection',
  label: 'Dataset & Files',
  asks: 'Which base model learns from which file?',
  Component: StepSelection,
  problems: (state) => ({
    ...(!state.baseModelId && { baseModelId: NOT_SELECTED }),
    ...datasetProblems(state),
  }),
  next: continueAction,
};

const parameters: Step = {
  id: 'parameters',
  label: 'Parameters',
  asks: 'How does it learn, and on which hardware?',
  Component: StepParameters,
  problems: ({ parameters: values, fileName }) => parameterProblems(values, fileName ?? ''),
  next: { label: 'Continue', does: 'validate' },
};

const review: Step = {
  id: 'review',
  label: 'Review',
  asks: 'Check your choices and the cost before the run starts.',
  Component: StepReview,
  problems: ({ ceiling }) => {
    const problem = ceilingProblem(ceiling);
    return problem === null ? {} : { ceiling: problem };
  },
  next: { label: 'Start training', does: 'start' },
  isNoForm: true,
};

/** A fine-tune on one screen, when opened from a dataset. */
const quick: Step = {
  id: 'quick',
  label: 'Fine-tune',
  asks: 'What does the model learn from, and what does it cost?',
  Component: QuickStep,
  problems: (state) => ({
    ...nameProblems(state),
    ...selection.problems(state),
    ...parameters.problems(state),
  }),
  next: { label: 'Start', does: 'start' },
};

/** The steps per type of model, up to the result. */
export const wizardSteps: Record<ModelType, readonly Step[]> = {
  upload: [
    type,
    {
      ...details,
      label: 'Model Details',
      asks: 'What is your model called, and what is it based on?',
      problems: (state) => ({
        ...nameProblems(state),
        ...(!state.baseModelType && { baseModelType: 'Please fill in all required fields' }),
      }),
    },
    {
      id: 'files',
      label: 'Upload Files',
      asks: 'Which files does your model consist of?',
      Component: StepUpload,
      problems: filesProblems,
      next: { label: 'Create model', does: 'create' },
    },
    {
      id: 'uses',
      label: 'Review',
      asks: 'See what your model can be used for.',
      Component: UploadReview,
      problems: () => ({}),
      next: { label: 'Finish', does: 'finish' },
      isSaved: true,
    },
  ],
  finetune: [type, details, selection, parameters, review],
  huggingface: [
    type,
    details,
    { ...selection, problems: (state) => ({ ...hubProblems(state), ...datasetProblems(state) }) },
    parameters,
    review,
  ],
};

/** All types share the first step. */
export const stepsOf = (state: WizardState): readonly Step[] =>
  state.step === 'quick' ? [quick] : wizardSteps[state.type ?? 'finetune'];

export const stepIndex = (state: WizardState): number =>
  stepsOf(state).findIndex(({ id }) => id === state.step);

export function stepOf(state: WizardState): Step {
  const step = stepsOf(state)[stepIndex(state)];
  if (!step) throw new Error(`${state.type} has no step ${state.step}`);
  return step;
}

export const canGoBack = (state: WizardState): boolean =>
  !state.isOver && stepIndex(state) > 0 && !stepOf(state).isSaved;

/** Returns true if closing the sheet would lose input. */
export function isDirty(state: WizardState): boolean {
  const { name, suggestedName, tags, files } = state;
  if (state.isOver || stepOf(state).isSaved) return false;
  // A wizard that was opened from a dataset or model starts at the second step.
  return stepIndex(state) > 1 || name !== suggestedName || tags.length > 0 || files.length > 0;
}

export function wizardReducer(state: WizardState, action: WizardAction): WizardState {
  const stepAt = (index: number) => stepsOf(state)[index]?.id ?? state.step;
  switch (action.do) {
    case 'continue':
      return Object.keys(stepOf(state).problems(state)).length > 0
        ? { ...state, attempts: state.attempts + 1 }
        : { ...state, step: stepAt(stepIndex(state) + 1), attempts: 0 };
    case 'back':
      return canGoBack(state)
        ? { ...state, step: action.to ?? stepAt(stepIndex(state) - 1), attempts: 0 }
        : state;
    case 'finish':
      return { ...state, isOver: true };
    case 'all settings': {
      const isMissing = ({ id, problems }: Step) =>
        id !== 'parameters' && Object.keys(problems(state)).length > 0;
      return { ...state, step: wizardSteps.finetune.find(isMissing)?.id ?? 'parameters', attempts: 0 };
    }
    case 'try again':
      return action.begun;
    default:
      return withChange(state, action);
  }
}

const NOT_SELECTED = 'Please make sure you have selected a model, dataset, and file';

function nameProblems(state: WizardState): Problems {
  const name =
    state.name.trim().length < MODEL_NAME_LENGTH_MIN
      ? `Model name must have at least ${MODEL_NAME_LENGTH_MIN} characters`
      : nameProblem(state.name, NAME_LENGTH_MAX);
  const tags = tagsProblem(state.tags);
  return { ...(name && { name }), ...(tags && { tags }) };
}

function filesProblems({ files }: WizardState): Problems {
  return files.length > 0 ? {} : { files: 'Please fill in all required fields and upload at least one file' };
}

function datasetProblems({ datasetId, fileName }: WizardState): Problems {
  if (!datasetId) return { datasetId: NOT_SELECTED };
  return fileName ? {} : { fileName: NOT_SELECTED };
}

function hubProblems({ hubModelId }: WizardState): Problems {
  return hubModelId === '' ? { hubModelId: NOT_SELECTED } : {};
}
