import { useQuery } from '@tanstack/react-query';
import { Columns2 } from 'lucide-react';
import { ButtonLink } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { chatModelsQuery } from '../../chat/chat.ts';
import { useLiveDeployment } from '../../deployments/use-deployments.ts';

/** The fine-tune and its base model. */
export type ComparedModels = { modelId: string; baseModelId: string | undefined };

/** Held-out questions that the run couldn't ask, with a link to ask both models in a side-by-side chat. */
export function UnansweredQuestions({ questions, models }: { questions: string[]; models: ComparedModels }) {
  const pod = useLiveDeployment(models.modelId);
  const basePod = useLiveDeployment(models.baseModelId);
  const answering = useQuery(chatModelsQuery).data?.data ?? [];
  // A starter model answers under this name without a deployment.
  const base = answering.find(({ id }) => id === pod?.model_name)?.parent ?? 'base';
  return (
    <div className="px-5 py-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="text-compact text-muted">
          {pod
            ? 'Copy a question, and ask both models side by side.'
            : 'Deploy this model to ask both models side by side.'}
        </p>
        {pod && (
          <ButtonLink size="sm" to="/chat" search={{ model: pod.pod_id, compare: basePod?.pod_id ?? base }}>
            <Columns2 aria-hidden />
            Compare
          </ButtonLink>
        )}
      </div>
      <ul className="mt-2">
        {questions.map((question) => (
          <li key={question} className="flex items-start justify-between gap-3 py-1">
            <p dir="auto" className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">
              {question}
            </p>
            <CopyButton text={question} label="Copy the question" />
          </li>
        ))}
      </ul>
    </div>
  );
}
