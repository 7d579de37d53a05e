/** Returns the shell command that sets the key for the examples. */
export function keyExample(key: string): string {
  return `export BAKEHOUSE_API_KEY='${key}'`;
}

/** Returns example calls of a chat model. Without a name, the examples use the first available model. */
export function apiExamples(origin: string, modelName?: string): { label: string; code: string }[] {
  return [
    { label: 'curl', code: curlExample(origin, modelName) },
    { label: 'Python', code: pythonExample(origin, modelName) },
  ];
}

function curlExample(origin: string, modelName?: string): string {
  const find = `# Use the first available model
MODEL=$(curl -s ${origin}/v1/models -H "Authorization: Bearer $BAKEHOUSE_API_KEY" |
  grep -o '"id": *"[^"]*"' | head -n 1 | cut -d '"' -f 4)

# Chat with it
`;
  // Ends the single-quoted string so that the shell expands the variable.
  const model = modelName ?? `'"$MODEL"'`;
  return `${modelName === undefined ? find : ''}curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer $BAKEHOUSE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}'`;
}

function pythonExample(origin: string, modelName?: string): string {
  return `# pip install openai
import os
from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key=os.environ["BAKEHOUSE_API_KEY"])
${modelName === undefined ? 'model = client.models.list().data[0].id\n\n' : ''}stream = client.chat.completions.create(
    model=${modelName === undefined ? 'model' : `"${modelName}"`},
    messages=[{"role": "user", "content": "Hello"}],
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)
print()`;
}

/**
 * Returns the Claude Code settings for a model. Keep in step with `docs/coding-agents.md`, which also covers
 * other agents.
 */
export function claudeCodeExample(origin: string, modelName: string): string {
  return `unset ANTHROPIC_API_KEY
export ANTHROPIC_BASE_URL=${origin}
export ANTHROPIC_AUTH_TOKEN="$BAKEHOUSE_API_KEY"
export ANTHROPIC_MODEL=${modelName}
export ANTHROPIC_DEFAULT_HAIKU_MODEL=${modelName}
claude`;
}
