import type { Generator } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import { useQuery } from '@tanstack/react-query';
import { ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { sessionQuery } from '../accounts/session.ts';
import { unavailableReason } from './form/unavailable-reason.ts';
import { useGeneratorPage } from './generator-context.ts';

/** Shown instead of the form if nothing generates: why, and how an operator connects a model. */
export function UnavailableGenerator() {
  const { name, ownOnly, serving } = useGeneratorPage();
  const { data: user } = useQuery(sessionQuery);
  const generator: Generator = generators[name];
  return (
    <Card>
      <EmptyState
        title={`${generator.title} is not connected to this server`}
        description={unavailableReason(generator, { ownOnly, isBeingPrepared: false })}
        action={
          user?.is_operator &&
          serving.served.data?.[name]?.is_connectable && (
            <ButtonLink to="/docs/$" params={{ _splat: 'connect-models' }}>
              How to connect it
            </ButtonLink>
          )
        }
      />
    </Card>
  );
}
