import { getDocumentation } from '@bakehouse/contract/documentation';
import { expect, test } from 'vitest';
import { testServer } from '../../testing/test-server.ts';

test("the documentation URL defaults to the server's own documentation", async () => {
  const server = await testServer();
  expect(await server.request(getDocumentation, {})).toEqual({
    documentation_url: `${server.url}/docs`,
    built_in: true,
    github_url: null,
  });
});

test('returns the configured URLs', async () => {
  const documentationUrl = 'https://docs.example/bakehouse';
  const githubUrl = 'https://github.com/example/bakehouse';
  const server = await testServer({ config: { documentationUrl, githubUrl } });
  expect(await server.request(getDocumentation, {})).toEqual({
    documentation_url: documentationUrl,
    built_in: false,
    github_url: githubUrl,
  });
});
