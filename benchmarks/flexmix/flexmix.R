# Fits a mixture of linear experts with a softmax gate by R's flexmix and prints what it found as JSON.
#
#   Rscript --vanilla flexmix.R rows.csv k starts seed [tolerance=1e-6] [iter_max=1000] [standard_errors=0]
#
# rows.csv has the columns x1..xd and y. Needs R with flexmix (on Debian: r-cran-flexmix) and nothing else.
# The model is flexmix's own: intercepts in experts and gate, a noise scale per expert, the gate of component 1 fixed at 0.
# Seconds are those of the fit alone. flexmix.py beside this file calls it and reads its answer.

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) < 4) {
  stop("usage: Rscript flexmix.R rows.csv k starts seed [tolerance] [iter_max] [standard_errors]")
}
setting <- function(i, default) if (length(arguments) >= i) as.numeric(arguments[i]) else default
k <- as.integer(arguments[2])
starts <- as.integer(arguments[3])
seed <- as.integer(arguments[4])
tolerance <- setting(5, 1e-6)
iter_max <- setting(6, 1000)
standard_errors <- setting(7, 0) != 0

if (!suppressPackageStartupMessages(require(flexmix, quietly = TRUE))) {
  stop("the R package flexmix is not installed: install.packages(\"flexmix\"), or r-cran-flexmix on Debian")
}

# JSON by hand, so that no further package is needed.
json_number <- function(x) ifelse(is.finite(x), sprintf("%.17g", x), "null")
json_text <- function(x) paste0("\"", gsub("[[:cntrl:]]+", " ", gsub("([\"\\\\])", "\\\\\\1", x)), "\"")
json_array <- function(items) paste0("[", paste(items, collapse = ", "), "]")
json_rows <- function(M) json_array(apply(M, 1, function(row) json_array(json_number(row))))
json_object <- function(...) {
  items <- list(...)
  paste0("{", paste0("\"", names(items), "\": ", unlist(items), collapse = ", "), "}")
}
json_bool <- function(x) if (isTRUE(x)) "true" else "false"

elapsed <- function(expression) unname(system.time(expression, gcFirst = TRUE)["elapsed"])

rows <- read.csv(arguments[1], colClasses = "numeric")
inputs <- paste0("x", seq_len(ncol(rows) - 1))
if (!identical(names(rows), c(inputs, "y"))) stop("rows.csv must have the columns x1..xd, y in this order")
right <- paste(inputs, collapse = " + ")

fit_once <- function(start) {
  set.seed(seed + start - 1)
  fit <- NULL
  problem <- NULL
  seconds <- elapsed(tryCatch(
    fit <- flexmix(
      as.formula(paste("y ~", right)),
      data = rows, k = k,
      model = FLXMRglm(family = "gaussian"),
      concomitant = FLXPmultinom(as.formula(paste("~", right))),
      control = list(iter.max = iter_max, minprior = 0, tolerance = tolerance)
    ),
    error = function(e) problem <<- conditionMessage(e)
  ))
  list(fit = fit, seconds = seconds, problem = problem)
}

describe_start <- function(run) {
  if (is.null(run$fit)) {
    return(json_object(
      log_likelihood = "null", seconds = json_number(run$seconds), iterations = "null",
      converged = "false", error = json_text(run$problem)
    ))
  }
  json_object(
    log_likelihood = json_number(run$fit@logLik), seconds = json_number(run$seconds),
    iterations = json_number(run$fit@iter), converged = json_bool(run$fit@converged), error = "null"
  )
}

describe_standard_errors <- function(fit) {
  refitted <- NULL
  problem <- NULL
  seconds <- elapsed(tryCatch(refitted <- refit(fit), error = function(e) problem <<- conditionMessage(e)))
  if (is.null(refitted)) {
    return(json_object(seconds = json_number(seconds), error = json_text(problem)))
  }
  json_object(
    seconds = json_number(seconds), error = "null", names = json_array(json_text(names(refitted@coef))),
    coef = json_array(json_number(refitted@coef)),
    se = json_array(json_number(suppressWarnings(sqrt(diag(refitted@vcov)))))
  )
}

describe_best <- function(fit) {
  experts <- parameters(fit)
  gate <- if (fit@k > 1) t(parameters(fit, which = "concomitant")) else matrix(0, 1, length(inputs) + 1)
  json_object(
    log_likelihood = json_number(fit@logLik), n_parameters = json_number(fit@df),
    expert = json_rows(t(experts[-nrow(experts), , drop = FALSE])), gate = json_rows(gate),
    sigma = json_array(json_number(experts[nrow(experts), ])),
    standard_errors = if (standard_errors) describe_standard_errors(fit) else "null"
  )
}

best <- NULL
described <- character(0)
for (start in seq_len(starts)) { # one fit is kept at a time: each holds several copies of the rows
  run <- fit_once(start)
  described <- c(described, describe_start(run))
  if (!is.null(run$fit) && (is.null(best) || run$fit@logLik > best@logLik)) best <- run$fit
}
cat(json_object(
  r_version = json_text(R.version.string), flexmix_version = json_text(as.character(packageVersion("flexmix"))),
  starts = json_array(described), best = if (is.null(best)) "null" else describe_best(best)
), "\n", sep = "")
