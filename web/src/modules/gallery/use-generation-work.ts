import type { Generation } from '@bakehouse/contract/generations';
import { type GeneratorName, makesVideos } from '@bakehouse/contract/generators';
import { useQueries } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import type { LongWork } from '../../ui/long-work.ts';
import { useUser } from '../accounts/session.ts';
import { useCancelGeneration } from './generation-calls.ts';
import { generationQuery, useRecentGenerations } from './generation-queries.ts';
import {
  canBeCancelled,
  isUnderWay,
  noChargeText,
  percentOf,
  phaseText,
  workId,
} from './generation-sentences.ts';
import { shortPrompt } from './thumbnail/generation-thumbnail.tsx';

/** Generations as long work. */
export function useGenerationWork(): LongWork[] {
  const cancel = useCancelGeneration();
  const pathname = useLocation({ select: (location) => location.pathname });
  return useFollowedGenerations(useUser().id).map((generation) => ({
    id: workId(generation.id),
    title: shortPrompt(generation.prompt),
    picture: generation.preview ?? generation.source?.thumbnail_url ?? null,
    phase: phaseText(generation),
    progress: percentOf(generation),
    link: { to: '/gallery/$id', params: { id: generation.id } },
    ...(canBeCancelled(generation) && { cancel: { run: () => cancel.mutate(generation.id) } }),
    end: isUnderWay(generation) ? null : endOf(generation, pathname),
  }));
}

/** Recent generations; each unfinished one is read separately, so that a step does not reload a list. */
export function useFollowedGenerations(userId: string | undefined): Generation[] {
  const recent = useRecentGenerations(userId);
  useQueries({ queries: recent.filter(isUnderWay).map(({ id }) => generationQuery(id)) });
  return recent;
}

/** Completion messages shown on the generator's own page. */
const ownTitles: Partial<Record<GeneratorName, string>> = { paris: 'Paris images generated successfully!' };

/** Returns how it ended, worded for the current page. */
export function endOf(
  generation: Pick<Generation, 'state' | 'generator' | 'prompt' | 'reason'> & { source: object | null },
  pathname: string,
): NonNullable<LongWork['end']> {
  const { state, generator, prompt, reason, source } = generation;
  const description = shortPrompt(prompt);
  // On its own page the picture itself is replaced by what happened.
  const isOnScreen = pathname.endsWith(`/${generator}`);
  if (state === 'cancelled')
    return { kind: 'info', title: 'Generation cancelled', description: noChargeText(generation), isOnScreen };
  if (makesVideos(generator)) return endOfVideo({ state, reason }, description);
  if (state === 'completed') {
    const own = isOnScreen ? ownTitles[generator] : undefined;
    const title = own ?? 'Image Generation Completed!';
    // Missing pictures matter more than the prompt.
    return { kind: 'success', title, description: reason || description };
  }
  if (state === 'failed' && source)
    return {
      kind: 'failure',
      title: `Image editing failed: ${reason || 'The picture could not be edited'}`,
      description: noChargeText({ state, reason: '' }),
    };
  const title = 'The picture could not be generated';
  return { kind: 'failure', title, description: noChargeText(generation), isOnScreen };
}

function endOfVideo(
  ended: Pick<Generation, 'state' | 'reason'>,
  description: string,
): NonNullable<LongWork['end']> {
  if (ended.state === 'completed')
    return { kind: 'success', title: 'Video generation completed!', description };
  return { kind: 'failure', title: 'Video generation failed', description: noChargeText(ended) };
}
