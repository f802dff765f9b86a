import { QueryClientProvider } from '@tanstack/react-query'
import { type ComponentType, lazy, Suspense } from 'react'
import { Route, Router, Switch } from 'wouter'
import { root } from './api/client'
import { client } from './api/query'
import { Gate } from './session'
import { Shell } from './shell/shell'
import { readPages, t, useLanguage } from './text'
import { Empty, Loading } from './ui/parts'

const Home = lazy(() => import('./pages/home'))

/** page is a page that is read, with its texts, when it is first opened. */
function page(read: () => Promise<{ default: ComponentType }>) {
  return lazy(() => Promise.all([read(), readPages()]).then(([module]) => module))
}

const Extractors = page(() => import('./pages/extractors'))
const Flows = page(() => import('./pages/flows'))
const Functions = page(() => import('./pages/functions'))
const Inbox = page(() => import('./pages/inbox'))
const References = page(() => import('./pages/references'))
const Runs = page(() => import('./pages/runs'))
const Settings = page(() => import('./pages/settings'))
const Templates = page(() => import('./pages/templates'))
const Usage = page(() => import('./pages/usage'))
const Webhooks = page(() => import('./pages/webhooks'))

export function App() {
  useLanguage()
  return (
    <QueryClientProvider client={client}>
      <Router base={`${root}/panel`}>
        <Gate>
          <Shell>
            <Suspense fallback={<Loading />}>
              <Switch>
                <Route path="/" component={Home} />
                <Route path="/extractors/:id?" component={Extractors} />
                <Route path="/flows/:engine?/:id?" component={Flows} />
                <Route path="/functions/:part?/:id?" component={Functions} />
                <Route path="/inbox/:reference?/:chat?" component={Inbox} />
                <Route path="/references/:id?" component={References} />
                <Route path="/runs/:engine?/:id?" component={Runs} />
                <Route path="/templates/:reference?" component={Templates} />
                <Route path="/webhooks/:reference?" component={Webhooks} />
                <Route path="/usage" component={Usage} />
                <Route path="/settings" component={Settings} />
                <Route>
                  <Empty title={t('notFound')} />
                </Route>
              </Switch>
            </Suspense>
          </Shell>
        </Gate>
      </Router>
    </QueryClientProvider>
  )
}
