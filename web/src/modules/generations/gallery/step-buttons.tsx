import type { Generation } from '@bakehouse/contract/generations';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ArrowLeft, ArrowRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { useStepKeys } from '../../../lib/device/use-step-keys.ts';
import { Button } from '../../../ui/button.tsx';
import { Tooltip } from '../../../ui/tooltip.tsx';
import { useUser } from '../../accounts/session.ts';
import { type GenerationPages, generationQuery, LISTS, useRecentGenerations } from '../generation-queries.ts';
import { neighboursOf } from './neighbours.ts';

/** To the generations beside this one in the lists that were read, by the arrow keys too. They have their place before the lists are read, so that nothing moves then. */
export function StepButtons({ id }: { id: string }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  // It is read on every page, and tells when it has come.
  useRecentGenerations(useUser().id);
  const lists = client.getQueriesData<GenerationPages>({ queryKey: LISTS });
  const { before, after } = neighboursOf(
    lists.map(([, data]) => data?.pages.flatMap((page) => page.generations) ?? []),
    id,
  );
  const goTo = (generation: Generation | undefined) => {
    if (!generation) return;
    // In sight at once, and read again: the links of its pictures end.
    const { queryKey } = generationQuery(generation.id);
    client.setQueryData(queryKey, (known) => known ?? generation, { updatedAt: 0 });
    // Back leads to where the first of them was opened.
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
