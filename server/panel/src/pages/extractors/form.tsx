import type { Problem } from '../../api/client'
import { Notice } from '../../ui/parts'
import { AIForm } from './form-ai'
import { EntityForm } from './form-entity'
import { IntentForm } from './form-intent'
import { RegexForm } from './form-regex'
import type { Config, Kind } from './config'

/** under finds what is wrong with a member of the config, or with something in it. */
export function under(problem: Problem | undefined, member: string): string | undefined {
  const at = `body.config.${member}`
  return problem?.errors.find((error) => error.location === at || error.location.startsWith(`${at}.`) || error.location.startsWith(`${at}[`))?.message
}

const members: Record<Kind, string[]> = {
  regex: ['pattern', 'flags', 'groups'],
  entity: ['types', 'locale', 'region', 'dictionary'],
  intent: ['intents', 'threshold', 'fallback'],
  ai: ['model', 'instructions', 'schema', 'when'],
}

/** ConfigForm asks for what an extractor of a kind looks for. */
export function ConfigForm({ kind, config, change, problem }: { kind: Kind; config: Config; change: (next: Config) => void; problem: Problem | undefined }) {
  const wrong = (member: string) => under(problem, member)
  const elsewhere = problem?.errors.find((error) => ![...members[kind], 'tests'].some((member) => error.location.startsWith(`body.config.${member}`)))
  const Form = { regex: RegexForm, entity: EntityForm, intent: IntentForm, ai: AIForm }[kind]
  return (
    <>
      {elsewhere && <Notice tone="bad">{elsewhere.message}</Notice>}
      <Form config={config} change={change} wrong={wrong} />
    </>
  )
}
