import type { Client } from '../scripts/client/client.ts';
import { createUserObjects } from './screens/create-user-objects.ts';
import { operatorScreens } from './screens/operator-screens.ts';
import { userScreens } from './screens/screens.ts';

type Routes = {
  /** One URL with content for each page of the app. */
  paths: string[];
  /** Ends the work that was started for these pages. */
  end: () => Promise<unknown>;
};

/** Creates one object of each kind for a user. Returns the URLs of all pages of a signed-in user. */
export async function allRoutes(client: Client): Promise<Routes> {
  const { end, ...things } = await createUserObjects(client);
  const own = userScreens
    .filter(({ alike }) => !alike)
    .map(({ at }) => (typeof at === 'string' ? at : at(things)));
  // One operator page is enough, because all of them deny access in the same way.
  const denied = operatorScreens.find((screen) => screen.denied)?.at;
  return { paths: [...own, ...(typeof denied === 'string' ? [denied] : [])], end };
}
