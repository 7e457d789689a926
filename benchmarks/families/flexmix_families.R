# Fits mixtures of generalised linear models with a softmax gate by R's flexmix and prints what it found as JSON.
#
#   Rscript --vanilla flexmix_families.R rows.csv family k starts seed experts gate [standard_errors=0]
#   Rscript --vanilla flexmix_families.R --table NAME rows.csv
#
# rows.csv has inputs x1, x2, ... and outputs y, and beside them failures in the column f for trials, or exposures in the
# column e for counts. experts and gate are inputs split by commas. With --table one of flexmix's own tables is written as such a file.

suppressPackageStartupMessages(library(flexmix))
arguments <- commandArgs(trailingOnly = TRUE)

if (arguments[1] == "--table") {
  name <- arguments[2]
  if (name == "patent") {
    data("patent", package = "flexmix")
    rows <- data.frame(x1 = patent$lgRD, x2 = patent$RDS, y = patent$Patents)
  } else if (name == "bioChemists") {
    data("bioChemists", package = "flexmix")
    rows <- data.frame(
      x1 = as.numeric(bioChemists$fem == "Women"), x2 = as.numeric(bioChemists$mar == "Married"),
      x3 = bioChemists$kid5, x4 = bioChemists$phd, x5 = bioChemists$ment, y = bioChemists$art
    )
  } else if (name == "seizure") {
    data("seizure", package = "flexmix")
    treated <- as.numeric(seizure$Treatment == "Yes")
    rows <- data.frame(
      x1 = treated, x2 = log(seizure$Day), x3 = treated * log(seizure$Day), y = seizure$Seizures, e = seizure$Hours
    )
  } else if (name == "dmft") {
    data("dmft", package = "flexmix")
    rows <- data.frame(
      x1 = log(dmft$Begin + 0.5), x2 = as.numeric(dmft$Gender == levels(dmft$Gender)[2]),
      model.matrix(~ dmft$Ethnic + dmft$Treatment)[, -1]
    )
    names(rows) <- paste0("x", seq_len(ncol(rows)))
    rows$y <- dmft$End
  } else if (name == "tribolium") {
    data("tribolium", package = "flexmix")
    rows <- data.frame(model.matrix(~ tribolium$Species + tribolium$Replicate)[, -1])
    names(rows) <- paste0("x", seq_len(ncol(rows)))
    rows$y <- tribolium$Remaining
    rows$f <- tribolium$Total - tribolium$Remaining
  } else if (name %in% c("NPreg yp", "NPreg yb")) {
    data("NPreg", package = "flexmix")
    rows <- data.frame(x1 = NPreg$x, x2 = NPreg$x^2)
    rows$y <- if (name == "NPreg yp") NPreg$yp else NPreg$yb
  } else {
    stop("no such table")
  }
  write.csv(rows, arguments[3], row.names = FALSE)
  quit(save = "no")
}

rows <- read.csv(arguments[1], colClasses = "numeric")
family <- arguments[2]
k <- as.integer(arguments[3])
starts <- as.integer(arguments[4])
seed <- as.integer(arguments[5])
inputs_of <- function(text) paste(strsplit(text, ",")[[1]], collapse = " + ")
left <- if ("f" %in% names(rows)) "cbind(y, f)" else if (family == "binomial") "cbind(y, 1 - y)" else "y"
experts <- as.formula(paste(left, "~", inputs_of(arguments[6])))
gate <- as.formula(paste("~", inputs_of(arguments[7])))
exposure <- if ("e" %in% names(rows)) log(rows$e)
with_errors <- length(arguments) >= 8 && arguments[8] != "0"

fitted_from <- function(start, control) {
  flexmix(experts,
    data = rows, k = k, cluster = start, model = FLXMRglm(family = family, offset = exposure),
    concomitant = FLXPmultinom(gate), control = c(control, minprior = 0)
  )
}

best <- NULL
seconds <- c()
levels_found <- c()
largest <- c()
for (start in seq_len(starts)) {
  set.seed(seed + start - 1)
  fit <- NULL
  taken <- system.time(tryCatch(
    fit <- fitted_from(NULL, list(iter.max = 2000, tolerance = 1e-8)),
    error = function(e) NULL
  ))
  seconds <- c(seconds, taken["user.self"] + taken["sys.self"])
  if (!is.null(fit)) {
    levels_found <- c(levels_found, fit@logLik)
    coefficients <- parameters(fit)
    coefficients <- coefficients[grepl("^coef", rownames(coefficients)), , drop = FALSE]
    largest <- c(largest, max(abs(coefficients)))
    if (is.null(best) || fit@logLik > best@logLik) best <- fit
  }
}
# EM ends early where it is slow: the best start goes on from where it ended
if (!is.null(best)) {
  on <- tryCatch(fitted_from(posterior(best), list(iter.max = 3000, tolerance = 1e-13)), error = function(e) NULL)
  if (!is.null(on) && on@logLik > best@logLik) best <- on
}
numbers <- function(x) paste0("[", paste(sprintf("%.12g", x), collapse = ", "), "]")
errors <- "null"
if (with_errors && !is.null(best)) {
  refitted <- tryCatch(refit(best), error = function(e) NULL)
  if (!is.null(refitted)) {
    table <- do.call(rbind, lapply(refitted@components[[1]], function(part) as.matrix(part)[, 1:2]))
    errors <- paste0("{\"estimate\": ", numbers(table[, 1]), ", \"error\": ", numbers(table[, 2]), "}")
  }
}
cat(sprintf(
  "{\"log_likelihood\": %.12g, \"all\": %s, \"largest\": %s, \"seconds\": %s, \"refit\": %s, \"version\": \"%s\"}\n",
  if (is.null(best)) NaN else best@logLik, numbers(levels_found), numbers(largest), numbers(seconds), errors,
  as.character(packageVersion("flexmix"))
))
