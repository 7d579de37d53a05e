import type { Client } from '../scripts/client/client.ts';
import { createUserObjects } from './screens/create-user-objects.ts';
import { operatorScreens } from './screens/operator-screens.ts';
import { userScreens } from './screens/screens.ts';

type Routes = {
  /** One URL per page of the app, with content. */
  paths: string[];
  /** Ends the work that was started for them. */
  end: () => Promise<unknown>;
};

/** Creates one of everything for a user; resolves to the URLs of all pages of a signed-in user. */
export async function allRoutes(client: Client): Promise<Routes> {
  const { end, ...things } = await createUserObjects(client);
  const own = userScreens
    .filter(({ alike }) => !alike)
    .map(({ at }) => (typeof at === 'string' ? at : at(things)));
  // All of them deny access in the same way.
  const denied = operatorScreens.find((screen) => screen.denied)?.at;
  return { paths: [...own, ...(typeof denied === 'string' ? [denied] : [])], end };
}
