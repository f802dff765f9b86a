import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../api/query'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Dialog } from '../../ui/dialog'
import { TextArea } from '../../ui/field'
import { Badge, Button, Curl, Failed, Loading, Notice } from '../../ui/parts'
import { read, write } from './draft'
import type { Document, Engine, Report, Step } from './engine'

export const testsKey = (engine: Engine, id: string) => ['tests', engine.name, id]

/** keepTest adds a test to those that are kept; one of the same name is replaced. */
export async function keepTest(engine: Engine, id: string, test: Document) {
  const all = await engine.tests(id)
  await engine.setTests(id, [...all.filter((one) => one.name !== test.name), test])
  await client.invalidateQueries({ queryKey: testsKey(engine, id) })
}

/** Tests are kept beside the flow; what they did is shown on the canvas. */
export function Tests({ engine, id, ready, show }: { engine: Engine; id: string; ready: () => Promise<boolean>; show: (steps: Step[]) => void }) {
  const key = testsKey(engine, id)
  const list = useQuery({ queryKey: key, queryFn: () => engine.tests(id) })
  const [report, setReport] = useState<Report | null>(null)
  const [editing, setEditing] = useState<number | null>(null)
  const run = useAct(
    async () => {
      if (!(await ready())) throw new Error(t('try.unsaved'))
      return engine.test(id)
    },
    { then: setReport },
  )
  const set = useAct((tests: Document[]) => engine.setTests(id, tests), {
    then: async () => {
      setReport(null)
      await client.invalidateQueries({ queryKey: key })
    },
  })
  const tests = list.data ?? []
  const outcome = (test: Document) => report?.tests.find((one) => one.name === test.name)
  return (
    <div className="stack">
      {list.isPending && <Loading />}
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.data?.length === 0 && <p className="mute">{t('try.noTests')}</p>}
      {tests.length > 0 && (
        <div className="row">
          <Button tone="main" icon="run" busy={run.isPending} onClick={() => run.mutate(undefined)}>
            {t('try.runAll')}
          </Button>
          {report && <Badge tone={report.passed ? 'ok' : 'bad'}>{t('try.passedOf', { n: report.tests.filter((one) => one.passed).length, of: report.tests.length })}</Badge>}
        </div>
      )}
      <ul className="stack">
        {tests.map((test, at) => {
          const came = outcome(test)
          return (
            <li key={at} className="stack tight version-row">
              <div className="row spread">
                <strong dir="auto">{String(test.name)}</strong>
                {came && <Badge tone={came.passed ? 'ok' : 'bad'}>{t(came.passed ? 'try.passed' : 'try.failed')}</Badge>}
              </div>
              {came?.failure && (
                <Notice tone="bad">
                  {t('try.failure', { n: came.failure.step + 1 })} <span dir="auto">{came.failure.message}</span>
                </Notice>
              )}
              <div className="row">
                {came && <Button onClick={() => show(came.steps)}>{t('try.show')}</Button>}
                <Button onClick={() => setEditing(at)}>{t('edit.change')}</Button>
                <Button tone="quiet" icon="trash" label={t('try.remove', { name: String(test.name) })} onClick={() => set.mutate(tests.filter((_, i) => i !== at))} />
              </div>
            </li>
          )
        })}
      </ul>
      {report && report.coverage.missingNodes.length + report.coverage.missingOutputs.length > 0 && (
        <details>
          <summary>{t('try.missing', { n: report.coverage.missingNodes.length + report.coverage.missingOutputs.length })}</summary>
          <p className="mono small">{[...report.coverage.missingNodes, ...report.coverage.missingOutputs].join(', ')}</p>
        </details>
      )}
      <Curl path={`${engine.path(id)}/test`} method="POST" body={{}} />
      {editing !== null && <Edit test={tests[editing] ?? {}} close={() => setEditing(null)} save={(test) => engine.setTests(id, tests.map((one, i) => (i === editing ? test : one))).then(() => client.invalidateQueries({ queryKey: key }))} />}
    </div>
  )
}

function Edit({ test, close, save }: { test: Document; close: () => void; save: (test: Document) => Promise<unknown> }) {
  const [text, setText] = useState(() => write(test))
  const value = read(text)
  const act = useAct(() => save(value ?? {}), { then: close })
  const wrong = act.problem?.errors[0]
  return (
    <Dialog title={String(test.name)} close={close} wide>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (value) act.mutate(undefined)
        }}
      >
        <TextArea label={t('try.asText')} className="input mono test-text" spellCheck={false} value={text} onChange={(event) => setText(event.target.value)} wrong={value ? wrong && `${wrong.location} ${wrong.message}` : t('run.noJSON')} />
        <div className="row">
          <Button type="submit" tone="main" busy={act.isPending} disabled={!value}>
            {t('save')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
