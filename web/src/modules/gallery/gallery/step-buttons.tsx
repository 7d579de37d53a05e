import type { Generation } from '@bakehouse/contract/generations';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ArrowLeft, ArrowRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { useStepKeys } from '../../../lib/device/use-step-keys.ts';
import { Button } from '../../../ui/button.tsx';
import { Tooltip } from '../../../ui/tooltip.tsx';
import { useUser } from '../../accounts/session.ts';
import {
  allOf,
  type GenerationPages,
  generationQuery,
  LISTS,
  useRecentGenerations,
} from '../generation-queries.ts';
import { neighboursOf } from './neighbours.ts';

/**
 * Buttons and arrow keys to the adjacent generations in the loaded lists. Rendered before the lists load, to
 * avoid layout shift.
 */
export function StepButtons({ id }: { id: string }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const recent = useRecentGenerations(useUser().id);
  const lists = client.getQueriesData<GenerationPages>({ queryKey: LISTS });
  const { before, after } = neighboursOf([recent, ...lists.map(([, data]) => (data ? allOf(data) : []))], id);
  const goTo = (generation: Generation | undefined) => {
    if (!generation) return;
    // Show the cached generation immediately, but refetch it, because its picture links expire.
    const { queryKey } = generationQuery(generation.id);
    client.setQueryData(queryKey, (known) => known ?? generation, { updatedAt: 0 });
    // Back returns to the page that opened the first one.
    void navigate({ to: '/gallery/$id', params: { id: generation.id }, replace: true });
  };
  useStepKeys(['ArrowLeft', 'ArrowRight'], (step) => goTo(step < 0 ? before : after));
  return (
    <div className="ml-auto flex gap-1">
      <StepButton label="Previous generation" onClick={before && (() => goTo(before))}>
        <ArrowLeft aria-hidden />
      </StepButton>
      <StepButton label="Next generation" onClick={after && (() => goTo(after))}>
        <ArrowRight aria-hidden />
      </StepButton>
    </div>
  );
}

type StepProps = { label: string; onClick: (() => void) | undefined; children: ReactNode };

function StepButton({ label, onClick, children }: StepProps) {
  return (
    <Tooltip content={label}>
      <Button variant="ghost" size="icon" aria-label={label} aria-disabled={!onClick} onClick={onClick}>
        {children}
      </Button>
    </Tooltip>
  );
}
